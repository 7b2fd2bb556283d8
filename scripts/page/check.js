// SPDX-License-Identifier: GPL-2.0
// #check in the address: the page tries itself by events, as a person would, and writes what it has found
// into <pre id="check">, which scripts/tests-long/page.t reads: lines of TAP, and figures after tabs.
"use strict";

async function check(opened) {
	const lines = [];
	let number = 0;

	function ok(what, passed, detail = "") {
		number++;
		lines.push(`${passed ? "ok" : "not ok"} ${number} - ${what}${passed ? "" : `: ${detail}`}`);
	}

	function figure(...fields) {
		lines.push(fields.map((field) => JSON.stringify(field)).join("\t"));
	}

	const length = () => timeline.view()[1] - timeline.view()[0];
	const box = () => timeline.canvas.getBoundingClientRect();

	function pointer(type, target, px, py, more = {}) {
		target.dispatchEvent(new MouseEvent(type, {
			bubbles: true, cancelable: true, view: window, clientX: px, clientY: py, button: 0, ...more,
		}));
	}

	function press(name) {
		timeline.scroller.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
	}

	function lineFigures() {
		const wrong = [];
		for (const track of timeline.tracks) {
			const found = new Map();
			track.keys.forEach((_, i) => {
				const parts = timeline.partsOf(track, i);
				for (let j = 0; j < parts.length; j += 2) {
					const state = DATA.timeline.states[timeline.stateIndex(parts[j])];
					found.set(state, (found.get(state) || 0) + parts[j + 1]);
				}
			});
			const end = track.starts[track.starts.length - 1];
			if (end !== timeline.span)
				wrong.push(`${track.name}: ${end}`);
			for (const [state, ns] of found)
				figure("line", track.host ? "" : track.vm, track.name, state, ns);
		}
		ok("all tracks end with the time", !wrong.length, `${wrong.join("; ")}; ${timeline.span}`);
	}

	function barFigures() {
		const widths = [];
		d3.selectAll("#bars rect.state").each(function one(part) {
			figure("bar", part.bar.host ? "" : part.bar.vm, part.id, part.ns);
			const want = 100 * part.ns / part.bar.time_ns;
			widths.push(Math.abs(parseFloat(this.getAttribute("width")) - want));
		});
		ok("bars are as wide as their share", widths.length > 0 && Math.max(...widths) < 1e-6, Math.max(...widths));
		d3.selectAll("#bars .bar").each(function one(bar) {
			figure("thieves", bar.host ? "" : bar.vm, this.querySelector(".thieves").textContent);
		});
	}

	function zooming() {
		const middle = box().left + box().width / 2;
		const before = length();
		timeline.canvas.dispatchEvent(new WheelEvent("wheel", {
			bubbles: true, cancelable: true, view: window, clientX: middle, clientY: box().top + 5, deltaY: -400,
		}));
		ok("the wheel zooms", length() < before, length());
		const from = timeline.view()[0];
		pointer("mousedown", timeline.canvas, middle, box().top + 5);
		pointer("mousemove", window, middle - 50, box().top + 5);
		pointer("mouseup", window, middle - 50, box().top + 5);
		ok("a drag moves", timeline.view()[0] > from, timeline.view()[0]);
		const right = timeline.view()[0];
		press("ArrowLeft");
		ok("the left arrow goes back", timeline.view()[0] < right, timeline.view()[0]);
		press("ArrowRight");
		ok("the right arrow goes on", Math.abs(timeline.view()[0] - right) < length() / 100, timeline.view()[0]);
		const zoomed = length();
		press("+");
		ok("+ halves the span", Math.abs(length() / zoomed - 0.5) < 0.01, length());
		press("-");
		ok("- doubles it", Math.abs(length() / zoomed - 1) < 0.01, length());
		press("0");
		ok("0 shows all", Math.abs(length() - timeline.span) < 1, length());
		timeline.draw();
		const strip = element("overview").getBoundingClientRect();
		const overlay = document.querySelector("#overview .overlay");
		pointer("mousedown", overlay, strip.left + strip.width / 4, strip.top + 5);
		pointer("mousemove", window, strip.left + strip.width / 2, strip.top + 5);
		pointer("mouseup", window, strip.left + strip.width / 2, strip.top + 5);
		ok("a drag in the strip chooses a span", Math.abs(length() / timeline.span - 0.25) < 0.02, length() / timeline.span);
		press("0");
	}

	// Where that time of that track is on the screen
	function place(track, at) {
		timeline.draw();
		const row = timeline.rows.findIndex((one) => one.track === track);
		return [box().left + timeline.scale()(at),
			box().top + row * timeline.ROW - timeline.scroller.scrollTop + timeline.ROW / 2];
	}

	function isVisible(track) {
		const top = timeline.rows.findIndex((one) => one.track === track) * timeline.ROW;
		return top >= timeline.scroller.scrollTop &&
			top + timeline.ROW <= timeline.scroller.scrollTop + timeline.scroller.clientHeight + 1;
	}

	function clicking() {
		let stolen = null;
		for (const track of timeline.tracks)
			for (let i = 0; !stolen && i < track.keys.length; i++) {
				const key = timeline.thiefOf(track, i);
				if (!track.host && key >= 0 && DATA.timeline.keys[key][1] >= 0)
					stolen = { track, i, key };
			}
		if (!stolen) {
			figure("no steal");
			return;
		}
		const { track, i, key } = stolen;
		const start = track.starts[i], end = track.starts[i + 1];
		timeline.setView(start - (end - start), end + (end - start));
		timeline.scroller.scrollTop = timeline.scroller.scrollHeight;
		timeline.scroller.scrollTop = Math.max(0, timeline.rows.findIndex((one) => one.track === track) * timeline.ROW -
			timeline.scroller.clientHeight + timeline.ROW + 4);
		const at = place(track, (start + end) / 2);
		pointer("mousemove", timeline.canvas, ...at);
		const told = element("tip").textContent;
		ok("the tooltip tells of steal", !element("tip").hidden && told.includes("steal"), told);
		pointer("click", timeline.canvas, ...at);
		const mark = timeline.mark(), [, cpu, name] = DATA.timeline.keys[key];
		ok("a click on steal leads to its CPU", mark && mark.track.host && mark.track.id === cpu,
			JSON.stringify(mark && mark.track.name));
		ok("... at that time", mark && mark.at >= start && mark.at <= end, mark && mark.at);
		ok("... which is on the screen", mark && isVisible(mark.track), timeline.scroller.scrollTop);
		ok("... and tells who had it", element("told").textContent.includes(name < 0 ? "steal" : shown(DATA.timeline.names[name])),
			element("told").textContent);
		press("Escape");
		ok("Escape takes the mark away", !timeline.mark() && !element("told").textContent, element("told").textContent);
		press("0");
		press("n");
		ok("n finds a steal", element("told").textContent.includes("steal"), element("told").textContent);
		press("Enter");
		ok("Enter leads to its CPU", Boolean(timeline.mark()), "no mark");
		press("Escape");
		press("0");
	}

	function flameFigures() {
		const choice = element("of");
		for (const option of choice.options) {
			choice.value = option.value;
			choice.dispatchEvent(new Event("change"));
			figure("flame", option.textContent, d3.select("#flame").datum().data.value);
			const own = d3.sum(flame.rows(), (row) => row.self);
			ok(`${choice.selectedIndex}: the table has the graph's time`, own === flame.tree().value,
				`${own} and ${flame.tree().value}`);
		}
		choice.selectedIndex = 0;
		choice.dispatchEvent(new Event("change"));
		for (const row of flame.rows().sort((a, b) => b.self - a.self).slice(0, 50))
			figure("function", row.name, row.self, row.total);
		flame.windows.forEach(([from, to], i) => {
			const inside = (to - from) / 10;
			timeline.setView(from + inside, to - inside);
			flame.draw();
			figure("window", i, flame.tree().value);
		});
		press("0");
		flame.draw();
	}

	function searching() {
		const largest = d3.max(d3.selectAll("#flame g.frame").filter((node) => !node.children).data(),
			(node) => node.data.value);
		const wanted = d3.selectAll("#flame g.frame").filter((node) =>
			!node.children && node.data.value === largest).datum();
		element("search").value = wanted.data.name.slice(0, 20).toUpperCase();
		element("search").dispatchEvent(new Event("input"));
		const unmarked = d3.selectAll("#flame g.frame").filter((node) => !node.highlight).size();
		ok("a search marks frames", wanted.highlight && unmarked > 0, `${wanted.data.name}, ${unmarked}`);
		ok("... and says their time", element("found").textContent.includes("%"), element("found").textContent);
		element("search").value = "no function is called so";
		element("search").dispatchEvent(new Event("input"));
		ok("a search for what is not there has no rows", !document.querySelector("#table tbody tr"), "rows");
		element("search").value = "";
		element("search").dispatchEvent(new Event("input"));
		const frame = d3.selectAll("#flame g.frame").filter((node) => node.depth === 1);
		pointer("click", frame.node(), 0, 0);
		ok("a click zooms the graph", frame.datum().x1 - frame.datum().x0 > 0.999, frame.datum().x1);
		element("unzoom").click();
	}

	function appearance() {
		const before = getComputedStyle(document.body).backgroundColor;
		element("theme").click();
		ok("the button changes the theme", getComputedStyle(document.body).backgroundColor !== before, before);
		element("theme").click();
		ok("nothing is wider than the window", document.documentElement.scrollWidth <= window.innerWidth,
			`${document.documentElement.scrollWidth} and ${window.innerWidth}`);
	}

	function names() {
		const text = document.body.innerText;
		ok("no control or bidi character is shown", !/[\u0000-\u0008\u000b-\u001f\u200e\u200f\u202a-\u202e\u2066\u2067]/.test(text),
			JSON.stringify(text.match(/.{0,20}[\u0000-\u0008\u000b-\u001f\u200e\u200f\u202a-\u202e\u2066\u2067]/)));
		const elements = new Set(Array.from(document.body.querySelectorAll("*"), (one) => one.localName));
		ok("no element is out of a name", !["img", "iframe", "a", "b", "object", "link"].some((name) => elements.has(name)),
			[...elements].join());
		ok("no program is out of a name", document.scripts.length === 4 && !window.hostile, document.scripts.length);
	}

	const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

	for (const part of [barFigures, lineFigures, zooming, clicking, flameFigures, searching, appearance, names]) {
		try {
			part();
		} catch (err) {
			ok(part.name, false, err.stack || err);
		}
		// The click that ends a drag is no click: d3 waits for it.
		await later(20);
	}
	// What is drawn later, too
	await later(500);
	ok("no errors", !problems.length, problems.join("; "));
	figure("opened", opened);
	lines.push(`1..${number}`);
	element("check").textContent = lines.join("\n");
	element("check").hidden = false;
}
