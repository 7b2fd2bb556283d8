// SPDX-License-Identifier: GPL-2.0
// The time line: a track for each CPU and each vCPU, on a canvas, as there are many slices; which span of
// the time is shown, and what is marked.
"use strict";

const timeline = (() => {
	const LABEL = 110, ROW = 20, NARROW = 700, NARROW_LABEL = 74;
	// The shortest span that is shown, ns
	const SHORTEST = 10;
	const data = DATA.timeline;
	const span = Math.max(data.end_ns - data.start_ns, 1);
	const states = data.states.map(stateOf);
	const stealState = data.states.indexOf("steal");
	const tracks = data.tracks.map(decode);
	const rows = layout();
	const canvas = element("canvas"), context = canvas.getContext("2d");
	const scroller = element("tracks");
	let view = [0, span];
	// {row, at}: where a click leads to, and where it came from
	let mark = null, origin = null, target = null;
	let label = LABEL, width = 0, height = 0, pending = 0, patterns = new Map();
	const listeners = [];

	// A track's items: starts has one more, the end; keys is -1 for a bin, which has parts: key, ns, ...
	function decode(track) {
		const starts = [], keys = [], bins = new Map();
		let at = track.offset_ns;
		for (let i = 0; i < track.items.length;) {
			starts.push(at);
			if (track.items[i] < 0) {
				const end = i + 1 - 2 * track.items[i];
				const parts = track.items.slice(i + 1, end);
				for (let j = 1; j < parts.length; j += 2)
					at += parts[j];
				bins.set(keys.length, parts);
				keys.push(-1);
				i = end;
			} else {
				keys.push(track.items[i]);
				at += track.items[i + 1];
				i += 2;
			}
		}
		starts.push(at);
		return { ...track, starts: Float64Array.from(starts), keys: Int32Array.from(keys), bins };
	}

	function layout() {
		const found = [];
		let vm = null;
		for (const track of tracks) {
			const title = track.host ? "Host" : track.vm;
			if (title !== vm)
				found.push({ title: shown(title) });
			vm = title;
			found.push({ track, name: shown(track.name) });
		}
		return found;
	}

	const stateIndex = (key) => data.keys[key][0];
	const partsOf = (track, i) => track.bins.get(i) || [track.keys[i], track.starts[i + 1] - track.starts[i]];
	const nameOf = (key) => (data.keys[key][2] < 0 ? "" : shown(data.names[data.keys[key][2]]));
	const titleOf = (track) => (track.host ? "" : `${shown(track.vm)} `) + shown(track.name);

	// The number of the item at that time; -1 where there is none
	function itemAt(track, at) {
		const i = d3.bisectRight(track.starts, at) - 1;
		return i < 0 || i >= track.keys.length ? -1 : i;
	}

	// ns by state of a track in a span, as far as items are known: of a bin in part, its share
	function sums(track, from, to, into) {
		for (let i = Math.max(itemAt(track, from), 0); i < track.keys.length && track.starts[i] < to; i++) {
			const start = track.starts[i], end = track.starts[i + 1];
			const share = (Math.min(end, to) - Math.max(start, from)) / (end - start);
			const parts = partsOf(track, i);
			for (let j = 0; share > 0 && j < parts.length; j += 2)
				into[stateIndex(parts[j])] += share * parts[j + 1];
		}
		return into;
	}

	// --- the span that is shown ----------------------------------------------------------

	const x = d3.scaleLinear();
	// Over the names of tracks the wheel scrolls.
	const zoom = d3.zoom().on("zoom", zoomed).filter((event) =>
		(event.type === "wheel" ? event.clientX - canvas.getBoundingClientRect().left >= label : !event.ctrlKey && !event.button));
	const brush = d3.brushX().on("brush end", brushed);

	function zoomed(event) {
		const base = d3.scaleLinear([0, span], [label, width]);
		const [from, to] = event.transform.rescaleX(base).domain();
		view = [Math.max(0, from), Math.min(span, to)];
		changed();
	}

	function brushed(event) {
		if (!event.sourceEvent)
			return;
		if (event.selection)
			setView(...event.selection.map((px) => span * px / overviewWidth()));
		else if (event.type === "end")
			setView(0, span);
	}

	function setView(from, to) {
		const length = Math.min(span, Math.max(to - from, Math.min(SHORTEST, span)));
		const start = Math.max(0, Math.min(from, span - length));
		const k = span / length;
		const base = d3.scaleLinear([0, span], [label, width]);
		d3.select(canvas).call(zoom.transform, d3.zoomIdentity.translate(label - k * base(start), 0).scale(k));
	}

	function changed() {
		for (const listener of listeners)
			listener(view);
		if (!pending)
			pending = requestAnimationFrame(draw);
	}

	// --- drawing -------------------------------------------------------------------------

	const overviewWidth = () => element("overview").clientWidth || 1;

	function resize() {
		width = Math.max(scroller.clientWidth, 100);
		height = Math.min(rows.length * ROW + 2, 340);
		scroller.style.height = `${height + 2}px`;
		height = scroller.clientHeight || height;
		label = width < NARROW ? NARROW_LABEL : LABEL;
		element("height").style.height = `${Math.max(rows.length * ROW, height)}px`;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
		canvas.width = Math.round(width * window.devicePixelRatio);
		canvas.height = Math.round(height * window.devicePixelRatio);
		zoom.extent([[label, 0], [width, height]]).translateExtent([[label, 0], [width, height]])
			.scaleExtent([1, Math.max(1, span / SHORTEST)]);
		const box = element("overview");
		d3.select(box).select("g.brush").call(brush.extent([[0, 0], [overviewWidth(), box.clientHeight]]));
		drawOverview();
		setView(...view);
	}

	// Which part of the vCPUs' time was stolen, over the time: found once, drawn at each size
	const stolen = (() => {
		const number = 300, step = span / number, into = new Float64Array(states.length);
		const vcpus = tracks.filter((track) => !track.host);
		return d3.range(number).map((i) => {
			into.fill(0);
			vcpus.forEach((track) => sums(track, i * step, (i + 1) * step, into));
			const all = d3.sum(into);
			return all && stealState >= 0 ? into[stealState] / all : 0;
		});
	})();

	function drawOverview() {
		const box = element("overview");
		const across = d3.scaleLinear([0, stolen.length], [0, overviewWidth()]);
		const up = d3.scaleLinear([0, Math.max(d3.max(stolen), 0.01)], [box.clientHeight - 1, 3]);
		d3.select(box).select("path").attr("fill", colour(stateOf("steal")))
			.attr("d", d3.area().curve(d3.curveStepAfter).x((_, i) => across(i)).y0(up(0)).y1(up)(
				[...stolen, stolen[stolen.length - 1]]));
	}

	function paint(state) {
		if (!state.hatched)
			return colour(state);
		if (!patterns.has(state)) {
			const tile = document.createElement("canvas");
			tile.width = tile.height = 8;
			const brushOf = tile.getContext("2d");
			brushOf.fillStyle = colour(state);
			brushOf.fillRect(0, 0, 8, 8);
			brushOf.strokeStyle = isDark() ? "#14171ca0" : "#ffffffa0";
			brushOf.lineWidth = 2;
			brushOf.beginPath();
			for (const shift of [-8, 0, 8]) {
				brushOf.moveTo(shift, 8);
				brushOf.lineTo(shift + 8, 0);
			}
			brushOf.stroke();
			patterns.set(state, context.createPattern(tile, "repeat"));
		}
		return patterns.get(state);
	}

	// A piece of a track with the time of several states: each has its share of the height, steal
	// at least two pixels.
	function stack(left, right, top, into) {
		const all = d3.sum(into), high = ROW - 4;
		if (!all)
			return;
		const steal = stealState < 0 ? 0 : into[stealState];
		const stealHigh = steal ? Math.max(2, high * steal / all) : 0;
		const scale = all > steal ? (high - stealHigh) / (all - steal) : 0;
		let y = top + 2;
		for (let i = 0; i < into.length; i++) {
			if (!into[i])
				continue;
			const tall = i === stealState ? stealHigh : into[i] * scale;
			context.fillStyle = paint(states[i]);
			context.fillRect(left, y, right - left, tall);
			y += tall;
		}
	}

	function drawTrack(track, top) {
		const into = new Float64Array(states.length);
		let column = -1;
		const flush = () => {
			if (column >= 0) {
				stack(column, column + 1, top, into);
				into.fill(0);
			}
			column = -1;
		};
		const first = Math.max(itemAt(track, view[0]), 0);
		for (let i = first; i < track.keys.length && track.starts[i] < view[1]; i++) {
			const left = Math.max(x(track.starts[i]), label), right = Math.min(x(track.starts[i + 1]), width);
			const parts = partsOf(track, i);
			if (right - left < 1) {
				const at = Math.floor((left + right) / 2);
				if (at !== column)
					flush();
				column = at;
				for (let j = 0; j < parts.length; j += 2)
					into[stateIndex(parts[j])] += parts[j + 1];
				continue;
			}
			flush();
			for (let j = 0; j < parts.length; j += 2)
				into[stateIndex(parts[j])] += parts[j + 1];
			stack(left, right, top, into);
			into.fill(0);
			if (right - left > 60 && !track.bins.has(i))
				writeIn(track.keys[i], left, right, top);
		}
		flush();
	}

	function writeIn(key, left, right, top) {
		const state = states[stateIndex(key)];
		const name = nameOf(key) || state.word;
		context.fillStyle = d3.lab(colour(state)).l > 58 ? "#000000" : "#ffffff";
		context.fillText(short(name, Math.floor((right - left - 8) / 6.5)), left + 4, top + ROW / 2 + 0.5);
	}

	function drawMark(found, top, dashed) {
		const { track, at } = found;
		const i = itemAt(track, at);
		if (i < 0)
			return;
		const left = Math.max(x(track.starts[i]), label), right = Math.min(x(track.starts[i + 1]), width);
		if (right < label || left > width)
			return;
		context.save();
		context.strokeStyle = styles.getPropertyValue("--mark");
		context.lineWidth = 2;
		context.setLineDash(dashed ? [3, 3] : []);
		context.strokeRect(left - 1, top + 1, Math.max(right - left, 2) + 2, ROW - 2);
		context.restore();
	}

	const styles = getComputedStyle(document.documentElement);

	function draw() {
		if (pending)
			cancelAnimationFrame(pending);
		pending = 0;
		x.domain(view).range([label, width]);
		const edge = styles.getPropertyValue("--edge"), text = styles.getPropertyValue("--text");
		context.setTransform(window.devicePixelRatio, 0, 0, window.devicePixelRatio, 0, 0);
		context.clearRect(0, 0, width, height);
		context.textBaseline = "middle";
		const scroll = scroller.scrollTop;
		for (let row = Math.floor(scroll / ROW); row < rows.length && row * ROW - scroll < height; row++) {
			const top = row * ROW - scroll;
			const { track, title, name } = rows[row];
			context.fillStyle = text;
			context.font = `${track ? "" : "bold "}12px system-ui, sans-serif`;
			const room = Math.floor((track ? label - 14 : width) / 7);
			context.fillText(short(track ? name : title, room), track ? 12 : 4, top + ROW / 2);
			if (!track)
				continue;
			context.fillStyle = edge;
			context.fillRect(label, top + ROW - 1, width - label, 0.5);
			context.font = "11px system-ui, sans-serif";
			drawTrack(track, top);
			for (const [found, dashed] of [[origin, true], [mark, false]])
				if (found && found.track === track)
					drawMark(found, top, dashed);
		}
		if (mark && mark.at >= view[0] && mark.at <= view[1]) {
			context.fillStyle = styles.getPropertyValue("--mark");
			context.fillRect(x(mark.at) - 0.5, 0, 1, height);
		}
		drawAxis();
	}

	function drawAxis() {
		const length = view[1] - view[0];
		const seconds = d3.scaleLinear([view[0] / 1e9, view[1] / 1e9], [label, width]);
		const number = Math.max(2, (width - label) / 110);
		const step = d3.tickStep(...seconds.domain(), number);
		const digits = Math.min(10, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
		d3.select("#axis").call(d3.axisTop(seconds).ticks(number).tickFormat((value) => `${value.toFixed(digits)} s`));
		const ticks = d3.select("#axis").selectAll("g.tick")
			.attr("transform", (value) => `translate(${seconds(value) + 1}, 21)`);
		// The last one may be at the edge, where its text has no room.
		ticks.select("text").attr("opacity", (value) => (seconds(value) > width - 12 - 3 * (digits + 2) ? 0 : 1));
		d3.select("#axis").select(".domain").attr("transform", "translate(1, 21)");
		element("shown").textContent =
			`${moment(view[0], length)} to ${moment(view[1], length)}: ${duration(length)} of ${duration(span)}`;
		const toPx = (ns) => overviewWidth() * ns / span;
		const full = length >= span * 0.9999;
		d3.select("#overview g.brush").call(brush.move, full ? null : [toPx(view[0]), Math.max(toPx(view[1]), toPx(view[0]) + 2)]);
	}

	// --- what a place is -----------------------------------------------------------------

	function rowAt(event) {
		const y = event.clientY - canvas.getBoundingClientRect().top + scroller.scrollTop;
		return rows[Math.floor(y / ROW)];
	}

	// {track, i, at} at that place; a slice of steal that is thinner than the pointer is found from
	// beside, too.
	function find(event) {
		const row = rowAt(event);
		const px = event.clientX - canvas.getBoundingClientRect().left;
		if (!row || !row.track || px < label)
			return null;
		const at = x.invert(px), track = row.track, i = itemAt(track, at);
		const from = Math.max(itemAt(track, x.invert(px - 3)), 0);
		for (let j = from; j < track.keys.length && track.starts[j] < x.invert(px + 3); j++)
			if (x(track.starts[j + 1]) - x(track.starts[j]) < 4 && thiefOf(track, j) >= 0)
				return { track, i: j, at: (track.starts[j] + track.starts[j + 1]) / 2 };
		return i < 0 ? null : { track, i, at };
	}

	// The key of the item's steal: of a bin, the one with most of those whose CPU is known; -1: nothing was
	// stolen
	function thiefOf(track, i) {
		const parts = partsOf(track, i);
		const rank = (j) => parts[j + 1] + (data.keys[parts[j]][1] >= 0 ? span : 0);
		let best = -1;
		for (let j = 0; j < parts.length; j += 2)
			if (stateIndex(parts[j]) === stealState && (best < 0 || rank(j) > rank(best)))
				best = j;
		return best < 0 ? -1 : parts[best];
	}

	const cpuTrack = (cpu) => tracks.find((track) => track.host && track.id === cpu);

	function describeKey(key) {
		const [state, cpu] = data.keys[key];
		const word = states[state].word, name = nameOf(key);
		if (state === stealState)
			return `${word}${name ? `: ${name} had the CPU` : ""}${cpu >= 0 ? ` (CPU ${cpu})` : ""}`;
		return `${word}${name ? `: ${name}` : ""}${cpu >= 0 ? `, on CPU ${cpu}` : ""}`;
	}

	// What the CPU did meanwhile: the two with most time
	function ranThen(cpu, from, to) {
		const track = cpuTrack(cpu), found = new Map();
		if (!track)
			return [];
		for (let i = Math.max(itemAt(track, from), 0); i < track.keys.length && track.starts[i] < to; i++) {
			const share = (Math.min(track.starts[i + 1], to) - Math.max(track.starts[i], from)) /
				(track.starts[i + 1] - track.starts[i]);
			const parts = partsOf(track, i);
			for (let j = 0; share > 0 && j < parts.length; j += 2) {
				const name = nameOf(parts[j]) || states[stateIndex(parts[j])].word;
				found.set(name, (found.get(name) || 0) + share * parts[j + 1]);
			}
		}
		return [...found].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name]) => name);
	}

	function describe({ track, i }) {
		const start = track.starts[i], end = track.starts[i + 1], parts = partsOf(track, i);
		const lines = [];
		if (parts.length === 2) {
			lines.push(`${titleOf(track)}: ${describeKey(parts[0])}`, `${duration(end - start)}, ${exactNs(end - start)}`);
		} else {
			lines.push(`${titleOf(track)}: ${duration(end - start)} with short slices`);
			const pairs = d3.range(0, parts.length, 2).map((j) => [parts[j], parts[j + 1]]);
			for (const [key, ns] of pairs.sort((a, b) => b[1] - a[1]).slice(0, 8))
				lines.push(`${percent(ns, end - start)} ${describeKey(key)}`);
		}
		lines.push(`from ${moment(start, 1000)} on`);
		const thief = thiefOf(track, i);
		if (thief >= 0 && data.keys[thief][1] >= 0) {
			const ran = ranThen(data.keys[thief][1], start, end);
			if (ran.length)
				lines.push(`CPU ${data.keys[thief][1]} ran then: ${ran.join(", ")}`);
		}
		return lines;
	}

	// --- marks, and the way to the CPU -----------------------------------------------------

	function reveal(track) {
		const top = rows.findIndex((row) => row.track === track) * ROW;
		if (top < scroller.scrollTop || top + ROW > scroller.scrollTop + scroller.clientHeight)
			scroller.scrollTop = Math.max(0, top - scroller.clientHeight / 2);
	}

	function tell(found) {
		const thief = thiefOf(found.track, found.i);
		const cpu = thief < 0 ? -1 : data.keys[thief][1];
		element("told").textContent = describe(found).join(" · ");
		target = cpu >= 0 && cpuTrack(cpu) ? { track: cpuTrack(cpu), at: found.at } : null;
		origin = { track: found.track, at: found.at };
		mark = null;
		element("lead").hidden = !target;
		element("back").hidden = true;
		changed();
	}

	function lead() {
		if (!target)
			return;
		mark = target;
		const length = view[1] - view[0];
		if (mark.at < view[0] || mark.at > view[1])
			setView(mark.at - length / 2, mark.at + length / 2);
		reveal(mark.track);
		element("back").hidden = false;
		changed();
	}

	function back() {
		if (!origin)
			return;
		mark = null;
		reveal(origin.track);
		changed();
	}

	function unmark() {
		mark = origin = target = null;
		element("told").textContent = "";
		element("lead").hidden = element("back").hidden = true;
		tip.hide();
		changed();
	}

	// To the steal after or before the one that is marked, or the middle
	function step(forward) {
		const from = origin ? origin.at : forward ? view[0] : view[1];
		let best = null;
		for (const track of tracks) {
			if (track.host)
				continue;
			let i = itemAt(track, from);
			if (i < 0)
				i = from < track.starts[0] ? -1 : track.keys.length;
			if (!forward || (origin && origin.track === track) || i < 0)
				i += forward ? 1 : -1;
			while (i >= 0 && i < track.keys.length && thiefOf(track, i) < 0)
				i += forward ? 1 : -1;
			if (i < 0 || i >= track.keys.length)
				continue;
			const at = (track.starts[i] + track.starts[i + 1]) / 2;
			if (origin && (forward ? at <= from : at >= from))
				continue;
			if (!best || (forward ? at < best.at : at > best.at))
				best = { track, i, at };
		}
		if (!best) {
			element("told").textContent = forward ? "No later steal" : "No earlier steal";
			return;
		}
		const long = best.track.starts[best.i + 1] - best.track.starts[best.i];
		const length = Math.min(view[1] - view[0], long * 200);
		setView(best.at - length / 2, best.at + length / 2);
		reveal(best.track);
		tell(best);
	}

	function key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const [from, to] = view, length = to - from, middle = (from + to) / 2;
		const keys = {
			ArrowLeft: () => setView(from - length / 5, to - length / 5),
			ArrowRight: () => setView(from + length / 5, to + length / 5),
			ArrowUp: () => { scroller.scrollTop -= 2 * ROW; },
			ArrowDown: () => { scroller.scrollTop += 2 * ROW; },
			"+": () => setView(middle - length / 4, middle + length / 4),
			"-": () => setView(middle - length, middle + length),
			0: () => setView(0, span),
			n: () => step(true),
			p: () => step(false),
			Enter: lead,
			Escape: unmark,
		};
		keys["="] = keys["+"];
		if (!Object.hasOwn(keys, event.key))
			return;
		event.preventDefault();
		keys[event.key]();
	}

	function start() {
		const overview = d3.select("#overview");
		overview.append("path");
		overview.append("g").attr("class", "brush");
		d3.select(canvas).call(zoom).on("dblclick.zoom", null)
			.on("mousemove", (event) => {
				const found = find(event), row = rowAt(event);
				canvas.style.cursor = found && thiefOf(found.track, found.i) >= 0 ? "pointer" : "grab";
				if (found)
					tip.show(event.clientX, event.clientY, describe(found));
				else if (row)
					tip.show(event.clientX, event.clientY, [row.track ? titleOf(row.track) : row.title]);
				else
					tip.hide();
			}).on("mouseleave", tip.hide)
			.on("click", (event) => {
				const found = find(event);
				scroller.focus({ preventScroll: true });
				if (!found)
					return;
				tell(found);
				lead();
			});
		scroller.addEventListener("keydown", key);
		scroller.addEventListener("scroll", () => changed());
		for (const button of document.querySelectorAll("button[data-key]"))
			button.addEventListener("click", () => scroller.dispatchEvent(
				new KeyboardEvent("keydown", { key: button.dataset.key, cancelable: true })));
		element("lead").addEventListener("click", lead);
		element("back").addEventListener("click", back);
		element("resolution").textContent = resolution();
		new ResizeObserver(() => resize()).observe(scroller);
		resize();
	}

	function resolution() {
		const how = "Wheel: zoom; over the names: scroll. Drag: move. Drag in the strip above: choose a span. " +
			"A click on steal leads to the CPU that another had.";
		if (!tracks.length)
			return "The profile has no time line.";
		const size = data.bin_ns ?
			`Slices shorter than ${duration(data.bin_ns)} are merged into bins, which have the time of each state.` :
			"Each slice is here as it was recorded.";
		return `${how} Seconds are from the start, ${(data.start_ns / 1e9).toFixed(9)} s on the host's clock. ${size}`;
	}

	return {
		start, draw, setView, rows, tracks, partsOf, thiefOf, sums, canvas, scroller, ROW, span,
		redraw() { patterns = new Map(); drawOverview(); changed(); },
		onChange(listener) { listeners.push(listener); },
		view: () => view, mark: () => mark, scale: () => x, stateIndex,
	};
})();
