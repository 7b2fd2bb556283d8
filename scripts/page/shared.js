// SPDX-License-Identifier: GPL-2.0
// What all parts of the page use: the data, names, times, states and their colours, the tooltip.
"use strict";

// For #check: what went wrong, from the first line on
const problems = [];
window.addEventListener("error", (event) => problems.push(String(event.message)));
window.addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) =>
	problems.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
for (const level of ["error", "warn"]) {
	const plain = console[level].bind(console);
	console[level] = (...args) => {
		problems.push(args.map(String).join(" "));
		plain(...args);
	};
}

const DATA = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
// Letters that are written from right to left
const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// A name as it can be shown: what is invisible or turns the direction of text is an escape, and one that
// is written from right to left leaves the text around it alone (U+2068 and U+2069).
function shown(name) {
	const text = name.replace(INVISIBLE, (found) => `\\u${found.codePointAt(0).toString(16).padStart(4, "0")}`);
	return LEFTWARD.test(text) ? `\u2068${text}\u2069` : text;
}

function short(name, most) {
	const characters = Array.from(name.slice(0, 2 * most + 2));
	return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : name;
}

// A length of time, in four digits
function duration(ns) {
	const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
	for (const [size, unit] of units)
		if (ns >= size)
			return `${Number((ns / size).toPrecision(4))} ${unit}`;
	return `${Math.round(ns)} ns`;
}

const exactNs = (ns) => `${d3.format(",")(ns).replace(/,/g, " ")} ns`;

function percent(ns, all) {
	return all ? `${(100 * ns / all).toFixed(2)} %` : "";
}

// Seconds from the start, as finely as a span of that length wants
function moment(ns, span) {
	const digits = Math.min(9, Math.max(3, 3 - Math.floor(Math.log10(Math.max(span, 1) / 1e9))));
	return `${(ns / 1e9).toFixed(digits)} s`;
}

// What time is spent on: the report's class, or the time line's state; its word, what it is, its colour
// in the light and in the dark, and whether it is hatched. Colours are Okabe's and Ito's, and grey.
const STATES = [
	["USER", "user", "code of programs", "#0072b2", "#2f8fd0"],
	["running", "running", "a vCPU executes code of the guest", "#0072b2", "#2f8fd0"],
	["OS", "kernel", "code of the kernel", "#56b4e9", "#7cc7f2"],
	["task", "task", "a CPU runs a task of the host", "#56b4e9", "#7cc7f2"],
	["VM", "guests", "VMs have the CPU", "#009e73", "#1db98d"],
	["guest", "guest", "a CPU runs a vCPU", "#009e73", "#1db98d"],
	["HOST", "host for guests", "the host works for guests", "#009e73", "#1db98d", true],
	["IDLE", "halt, idle", "nothing to do: the vCPU has halted, or the CPU idles", "#dfe3e8", "#3a424d"],
	["idle", "halt, idle", "nothing to do: the vCPU has halted, or the CPU idles", "#dfe3e8", "#3a424d"],
	["halt-poll", "halt-poll", "KVM polls for the end of a halt", "#b4bcc6", "#66717f", true],
	["steal", "steal", "the vCPU wants a CPU that another has", "#d55e00", "#ee7722"],
	["throttled", "throttled", "a limit of CPU time holds the VM back", "#cc79a7", "#e08fbd"],
	["blocked", "blocked", "the host makes the vCPU wait", "#cc79a7", "#e08fbd", true],
	["vmm", "VMM", "in the VMM, for the vCPU", "#e69f00", "#f0b429"],
	["exit", "exit", "the host handles an exit of the guest", "#f0e442", "#f0e442"],
	["stopped", "stopped", "the VM is stopped", "#7a5230", "#a87a52", true],
	["lost", "lost", "records are missing", "#4d5560", "#aab3bf", true],
	["unknown", "unknown", "not known", "#8b95a1", "#808b99", true],
	["none", "not there", "no such vCPU or CPU yet, or any more", "#ffffff", "#14171c"],
].map(([id, word, what, light, dark, hatched]) => ({ id, word, what, light, dark, hatched: Boolean(hatched) }));
const stateById = new Map(STATES.map((state) => [state.id, state]));

// Also of one that this page does not know yet
function stateOf(id) {
	if (!stateById.has(id))
		stateById.set(id, { ...stateById.get("unknown"), id, word: shown(id), what: "" });
	return stateById.get(id);
}

const isDark = () => document.documentElement.dataset.theme === "dark";
const colour = (state) => (isDark() ? state.dark : state.light);

// The hatching of a state as a pattern of SVG, of which each is there once; or its colour
function fill(state) {
	if (!state.hatched)
		return colour(state);
	const id = `hatch-${STATES.indexOf(stateById.get(state.id)) + 1}`;
	let defs = d3.select("#patterns");
	if (defs.empty())
		defs = d3.select("body").append("svg").attr("width", 0).attr("height", 0)
			.style("position", "absolute").attr("aria-hidden", "true").append("defs").attr("id", "patterns");
	if (d3.select(`#${id}`).empty()) {
		const pattern = defs.append("pattern").attr("id", id).attr("width", 6).attr("height", 6)
			.attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
		pattern.append("rect").attr("width", 6).attr("height", 6);
		pattern.append("rect").attr("width", 2).attr("height", 6).attr("class", "line");
	}
	d3.select(`#${id}`).select("rect").attr("fill", colour(state));
	d3.select(`#${id}`).select(".line").attr("fill", isDark() ? "#14171c" : "#ffffff").attr("opacity", 0.6);
	return `url(#${id})`;
}

// The tooltip: lines of text beside a place of the window
const tip = {
	show(x, y, lines) {
		const box = element("tip");
		box.replaceChildren(...lines.map((line) => {
			const row = document.createElement("div");
			row.textContent = line;
			return row;
		}));
		box.hidden = false;
		const { width, height } = box.getBoundingClientRect();
		box.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 4))}px`;
		box.style.top = `${y + 18 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
	},
	hide() {
		element("tip").hidden = true;
	},
};
