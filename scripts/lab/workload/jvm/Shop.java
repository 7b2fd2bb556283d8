// SPDX-License-Identifier: GPL-2.0

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;

/**
 * A server's work: a shop that keeps its orders in memory, for a JVM whose heap is too small
 * for that, or is not. It is the same work, whatever the heap.
 *
 * Usage: java Shop ORDERS WARM-UP ASK ANSWER
 *
 * It keeps ORDERS, and reads from the fifo ASK how many transactions to do. Into the fifo
 * ANSWER goes what that took, what of it the JVM says that it has spent on collections, and a
 * sum over all that was done. Before that, WARM-UP transactions have had the JVM compile the
 * code, in a shop that keeps little.
 *
 * Code that the JVM has compiled is named in /tmp/perf-PID.map, before each answer.
 */
final class Shop {
	private static final int MAX_LINES = 8;
	private static final int MAX_QUANTITY = 9;
	private static final int ARTICLES = 1000;
	private static final int CUSTOMERS = 5000;
	/* So many of the orders that are kept a service looks at. */
	private static final int BATCH = 512;
	private static final int RECEIPTS = 3;
	/* What a shop keeps that is there to get warm only. */
	private static final int FEW = BATCH;

	private record Line(int article, int quantity, int cents) {
		int total() {
			return quantity * cents;
		}
	}

	private record Order(long number, String customer, List<Line> lines) {
		long total() {
			long sum = 0;

			for (Line line : lines)
				sum += line.total();
			return sum;
		}
	}

	/* What a transaction is about. The answer goes into the sum. */
	private interface Service {
		long serve(int which);
	}

	/* A new order, in the place of one that is kept */
	private final class Purchase implements Service {
		@Override
		public long serve(int which) {
			Order order = newOrder();

			orders[which] = order;
			return order.total();
		}
	}

	private final class Receipts implements Service {
		@Override
		public long serve(int which) {
			StringBuilder text = new StringBuilder();

			for (int i = 0; i < RECEIPTS; i++)
				print(text, order(which + i));
			return text.toString().hashCode();
		}

		private void print(StringBuilder text, Order order) {
			text.append("order ").append(order.number());
			text.append(" of ").append(order.customer());
			for (Line line : order.lines()) {
				text.append("\n ").append(line.quantity());
				text.append(" of ").append(line.article());
				text.append(" at ").append(line.cents());
				text.append(": ").append(line.total());
			}
			text.append("\n all: ").append(order.total()).append('\n');
		}
	}

	private final class Turnover implements Service {
		@Override
		public long serve(int which) {
			long total = 0;

			for (int i = 0; i < BATCH; i++)
				total += order(which + i).total();
			return total;
		}
	}

	/* How many orders are of that one's customer? */
	private final class Search implements Service {
		@Override
		public long serve(int which) {
			String customer = order(which).customer();
			long count = 0;

			for (int i = 0; i < BATCH; i++) {
				if (order(which + i).customer().equals(customer))
					count++;
			}
			return count;
		}
	}

	private final Order[] orders;
	private final Service[] services = {
		new Purchase(), new Receipts(), new Turnover(), new Search(),
	};
	private long random = 1;
	private long number;
	private long sum;

	private Shop(int kept) {
		orders = new Order[kept];
		for (int i = 0; i < kept; i++)
			orders[i] = newOrder();
	}

	/* Knuth's MMIX generator: the same numbers in every run */
	private int random(int below) {
		random = random * 6364136223846793005L + 1442695040888963407L;
		return (int)((random >>> 33) % below);
	}

	private Order newOrder() {
		int count = 1 + random(MAX_LINES);
		List<Line> lines = new ArrayList<>(count);

		for (int i = 0; i < count; i++) {
			int article = random(ARTICLES);

			lines.add(new Line(article, 1 + random(MAX_QUANTITY), 99 + 10 * article));
		}
		return new Order(number++, "customer " + random(CUSTOMERS), lines);
	}

	private Order order(int which) {
		return orders[which % orders.length];
	}

	private void transactions(int count) {
		for (int i = 0; i < count; i++)
			sum = 31 * sum + services[random(services.length)].serve(random(orders.length));
	}

	/* So far: how often the collector was needed, and for how long */
	private record Collections(long count, long millis) {
		static Collections read() {
			long count = 0, millis = 0;

			for (GarbageCollectorMXBean bean :
			     ManagementFactory.getGarbageCollectorMXBeans()) {
				count += bean.getCollectionCount();
				millis += bean.getCollectionTime();
			}
			return new Collections(count, millis);
		}
	}

	/* What "jcmd PID Compiler.perfmap" does, without another JVM */
	private static void writePerfMap() throws Exception {
		ManagementFactory.getPlatformMBeanServer().invoke(
			new ObjectName("com.sun.management:type=DiagnosticCommand"), "compilerPerfmap",
			null, null);
	}

	private static String readLine(String path) throws IOException {
		try (BufferedReader reader = new BufferedReader(new FileReader(path))) {
			return reader.readLine();
		}
	}

	private static void write(String path, String text) throws IOException {
		try (FileWriter writer = new FileWriter(path)) {
			writer.write(text);
		}
	}

	private String measure(int count) {
		Collections before = Collections.read(), after;
		long start = System.nanoTime(), end;

		transactions(count);
		end = System.nanoTime();
		after = Collections.read();
		return "transactions=" + count + " ns=" + (end - start) +
			" collections=" + (after.count - before.count) +
			" collections_ms=" + (after.millis - before.millis) + " sum=" + sum + "\n";
	}

	public static void main(String[] args) throws Exception {
		Shop shop;

		new Shop(FEW).measure(Integer.parseInt(args[1]));
		writePerfMap();
		shop = new Shop(Integer.parseInt(args[0]));
		System.out.println("ready");
		for (;;) {
			String answer = shop.measure(Integer.parseInt(readLine(args[2])));

			writePerfMap();
			write(args[3], answer);
		}
	}
}
