// SPDX-License-Identifier: GPL-2.0
// Functions: a flame graph, its root on top, and a table beside it, of what is chosen and of the windows
// that the time line touches.
"use strict";

const flame = (() => {
	const MOST_ROWS = 300, SMALLEST_FRAME = 1;
	const data = DATA.stacks;
	const number = data.nodes.length / 2;
	const parentOf = (node) => data.nodes[2 * node];
	const names = data.names.map(shown);
	const nameOf = (node) => names[data.nodes[2 * node + 1]];
	const depth = new Int32Array(number), isLeaf = new Uint8Array(number).fill(1);
	for (let node = 1; node < number; node++) {
		depth[node] = depth[parentOf(node)] + 1;
		isLeaf[parentOf(node)] = 0;
	}
	const windows = data.windows;
	let view = [0, timeline.span], rowsOf = [], by = "self", tree = null, chart = null, drawn = "", timer = 0;

	// The windows that the span touches, as [first, last]
	function touched() {
		const found = d3.range(windows.length).filter((i) => windows[i][0] < view[1] && windows[i][1] > view[0]);
		return found.length ? [found[0], found[found.length - 1]] : [0, windows.length - 1];
	}

	function chosen() {
		const [first, last] = touched();
		if (!windows.length || last - first + 1 === windows.length)
			return [data.times[0]];
		return data.times.slice(first + 1, last + 2);
	}

	// Own ns and ns with callees of each node
	function times() {
		const own = new Float64Array(number), total = new Float64Array(number);
		for (const pairs of chosen())
			for (let i = 0; i < pairs.length; i += 2)
				own[pairs[i]] += pairs[i + 1];
		total.set(own);
		for (let node = number - 1; node > 0; node--)
			total[parentOf(node)] += total[node];
		return { own, total };
	}

	// What code it is, for its colour: by what export calls it
	function kindOf(node) {
		const name = nameOf(node);
		if (depth[node] <= 1)
			return "place";
		const outer = depth[node] > 1 ? nameOf(parentOf(node)) : "";
		for (const one of [name, outer]) {
			const found = /^\[([a-z-]+)\]$/.exec(one);
			if (found && found[1] !== "kernel" && stateById.has(found[1]))
				return found[1];
		}
		if (depth[node] === 2 && isHost(node) && isLeaf[node] && /^\[.*\]$/s.test(name))
			return "VM";
		if (name.endsWith("_[k]") || name === "[kernel]")
			return "kernel";
		return isContainer(node) ? "place" : "user";
	}

	const kinds = d3.range(number).map(kindOf);

	// A VM, a vCPU or a process, and no function
	function isContainer(node) {
		const top = isHost(node) ? 2 : 3;
		return depth[node] <= top && !isLeaf[node];
	}

	function isHost(node) {
		while (depth[node] > 1)
			node = parentOf(node);
		return nameOf(node) === "[host]";
	}

	function build({ total }, root) {
		const objects = new Map();
		for (let node = 0; node < number; node++) {
			if (!total[node] || (node !== root && !objects.has(parentOf(node))))
				continue;
			const object = { name: nameOf(node), value: total[node], kind: kinds[node], children: [] };
			objects.set(node, object);
			if (node !== root)
				objects.get(parentOf(node)).children.push(object);
		}
		return objects.get(root) || { name: "nothing", value: 0, kind: "place", children: [] };
	}

	// Rows of the table: {name, self, total}. A function that calls itself counts once in total.
	function functions({ own, total }, root) {
		const rows = new Map(), inside = new Map();
		const below = new Uint8Array(number);
		const children = new Map();
		for (let node = root; node < number; node++) {
			below[node] = node === root || (node > root && below[parentOf(node)]);
			if (!below[node] || !total[node])
				continue;
			if (!children.has(parentOf(node)))
				children.set(parentOf(node), []);
			if (node !== root)
				children.get(parentOf(node)).push(node);
		}
		const stack = [[root, true]];
		while (stack.length) {
			const [node, enters] = stack.pop();
			const name = functionName(node);
			if (!enters) {
				inside.set(name, inside.get(name) - 1);
				continue;
			}
			if (!isContainer(node) || own[node]) {
				const row = rows.get(name) || { name, self: 0, total: 0, kind: kinds[node] };
				rows.set(name, row);
				row.self += own[node];
				if (!inside.get(name))
					row.total += total[node];
				inside.set(name, (inside.get(name) || 0) + 1);
				stack.push([node, false]);
			}
			for (const child of children.get(node) || [])
				stack.push([child, true]);
		}
		return [...rows.values()];
	}

	// Who had the CPU stands in parentheses inside of the class, and has it before it here.
	function functionName(node) {
		const name = nameOf(node);
		return name.startsWith("(") && name !== "(smaller)" ? `${nameOf(parentOf(node))} ${name}` : name;
	}

	// --- choosing ------------------------------------------------------------------------

	// [{node, name}]: all, the host, each VM and each vCPU
	function places() {
		const found = [{ node: 0, name: "all: the CPUs of the host, and the vCPUs" }];
		const first = d3.range(1, number).filter((node) => depth[node] === 1);
		first.sort((a, b) => isHost(b) - isHost(a));
		for (const top of first) {
			found.push({ node: top, name: isHost(top) ? "host" : short(nameOf(top), 60) });
			if (isHost(top))
				continue;
			for (let node = top + 1; node < number; node++)
				if (parentOf(node) === top && /^vCPU \d+$/.test(nameOf(node)))
					found.push({ node, name: `${short(nameOf(top), 40)}, ${nameOf(node)}` });
		}
		return found;
	}

	const root = () => Number(element("of").value || 0);

	function tones() {
		return {
			place: isDark() ? "#8b96a3" : "#d4dae1", idle: isDark() ? "#727d8a" : "#dfe3e8", user: isDark() ? "#e8b65a" : "#f4cf86",
			kernel: isDark() ? "#7cc7f2" : "#a5d6f5",
		};
	}

	function tone(kind) {
		return tones()[kind] || colour(stateOf(kind));
	}

	function tooltip() {
		const show = (event, node) => tip.show(event.clientX, event.clientY, [
			node.data.name, `${duration(node.data.value)}: ${percent(node.data.value, tree.value)} of this graph`,
			node.parent ? `${percent(node.data.value, node.parent.data.value)} of ${short(node.parent.data.name, 60)}` : "",
			exactNs(node.data.value)].filter(Boolean));
		return Object.assign(() => {}, { show, hide: tip.hide });
	}

	function draw() {
		clearTimeout(timer);
		timer = 0;
		const found = times();
		tree = build(found, root());
		rowsOf = functions(found, root());
		tell();
		drawTable();
		const box = element("flame");
		box.replaceChildren();
		tip.hide();
		chart = flamegraph.default().width(Math.max(box.clientWidth - 2, 100)).cellHeight(18).inverted(true)
			.minFrameSize(SMALLEST_FRAME).transitionDuration(0).tooltip(tooltip()).selfValue(false)
			.setColorMapper((node) => (node.highlight ? "#e600e6" : tone(node.data.kind)))
			.setSearchMatch((node, text) => node.data.name.toLowerCase().includes(text.toLowerCase()))
			.setDetailsElement(document.createElement("span"));
		d3.select(box).datum(tree).call(chart);
		search();
		drawn = state();
	}

	const state = () => `${touched()} ${root()} ${element("flame").clientWidth}`;

	function tell() {
		const [first, last] = touched();
		if (!windows.length) {
			element("span").textContent = "The profile has no time line: this is all of its time.";
			return;
		}
		const from = windows[first][0], to = windows[last][1];
		const all = last - first + 1 === windows.length;
		const parts = last > first ? `${first + 1} to ${last + 1}` : `${first + 1}`;
		const times = `${moment(from, to - from)} to ${moment(to, to - from)}`;
		element("span").textContent = all ?
			`Of all the time, ${duration(to - from)}. Zoom into the time line for a part of it.` :
			`From ${times}: part${last > first ? "s" : ""} ${parts} of ${windows.length}, ` +
			"which is what the time line shows, rounded to parts.";
	}

	function drawTable() {
		const text = element("search").value.toLowerCase();
		const all = tree.value;
		const order = by === "name" ? (a, b) => d3.ascending(a.name, b.name) : (a, b) => b[by] - a[by];
		const rows = rowsOf.filter((row) => row.name.toLowerCase().includes(text)).sort(order).slice(0, MOST_ROWS);
		const cells = d3.select("#table tbody").selectAll("tr").data(rows).join("tr").selectAll("td")
			.data((row) => [row.self, row.total, row]).join("td");
		cells.each(function fillIn(value) {
			this.replaceChildren();
			const child = document.createElement(typeof value === "number" ? "small" : "button");
			if (typeof value === "number") {
				this.append(`${duration(value)} `, child);
				child.textContent = percent(value, all);
				this.title = exactNs(value);
			} else {
				child.type = "button";
				child.textContent = short(value.name, 200);
				child.title = value.name;
				child.addEventListener("click", () => {
					element("search").value = element("search").value === value.name ? "" : value.name;
					search();
					drawTable();
				});
				this.append(child);
			}
		});
	}

	function search() {
		const text = element("search").value;
		if (text)
			chart.search(text);
		else
			chart.clear();
		let ns = 0;
		if (text) {
			const stack = [tree];
			while (stack.length) {
				const node = stack.pop();
				if (node.name.toLowerCase().includes(text.toLowerCase()))
					ns += node.value;
				else
					stack.push(...node.children);
			}
		}
		element("found").textContent = text ? `${percent(ns, tree.value)} of the time has it: ${duration(ns)}` : "";
	}

	function start() {
		d3.select("#of").selectAll("option").data(places()).join("option").attr("value", (place) => place.node)
			.text((place) => place.name);
		element("of").addEventListener("change", draw);
		element("search").addEventListener("input", () => {
			search();
			drawTable();
		});
		element("unzoom").addEventListener("click", () => chart.resetZoom());
		for (const button of document.querySelectorAll("#table th button"))
			button.addEventListener("click", () => {
				by = button.dataset.by;
				document.querySelectorAll("#table th").forEach((cell) => cell.removeAttribute("aria-sort"));
				button.parentNode.setAttribute("aria-sort", by === "name" ? "ascending" : "descending");
				drawTable();
			});
		if (data.smaller > 0)
			element("smaller").textContent = `${data.smaller} frames with little time are together in (smaller).`;
		new ResizeObserver(() => later()).observe(element("flame"));
		draw();
	}

	// When what is shown has changed, and stays so
	function later() {
		clearTimeout(timer);
		timer = setTimeout(() => {
			if (state() !== drawn)
				draw();
		}, 150);
	}

	return {
		start, draw, places, root, tree: () => tree, rows: () => rowsOf, windows,
		setView(span) {
			view = span;
			later();
		},
	};
})();
