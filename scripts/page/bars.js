// SPDX-License-Identifier: GPL-2.0
// The first screen: what was measured, and where the time of the host and of each VM went.
"use strict";

const bars = (() => {
	const measured = DATA.measurement;
	const rank = (id) => STATES.indexOf(stateOf(id)) >>> 0;
	const nameOf = (bar) => (bar.host ? "Host" : shown(bar.vm));

	// [{id, from, ns}], one after the other
	function parts(bar) {
		let from = 0;
		return Object.entries(bar.classes_ns).sort(([a], [b]) => rank(a) - rank(b)).map(([id, ns]) => {
			from += ns;
			return { id, from: from - ns, ns, bar };
		});
	}

	function linesOf(bar) {
		return parts(bar).map(({ id, ns }) =>
			`${stateOf(id).word}: ${percent(ns, bar.time_ns)}, ${exactNs(ns)}`);
	}

	function facts() {
		const name = measured.host && measured.host !== "(none)" ? measured.host : "A host without a name";
		const span = DATA.timeline.end_ns - DATA.timeline.start_ns || measured.duration_ns;
		element("host").textContent = shown(name);
		document.title = `${shown(name)} - perf kvm unified`;
		element("facts").textContent = [
			duration(span), measured.date && `of ${shown(measured.date)}`,
			`${measured.cpus} CPU${measured.cpus === 1 ? "" : "s"}`,
			`kernel ${shown(String(measured.kernel))}`, shown(String(measured.event)),
			measured.selection && `only ${shown(measured.selection)}`,
		].filter(Boolean).join(" · ");
		const warnings = [
			measured.idle_known === false &&
				"The host's kernel has no symbols here: its idle time counts as kernel. Give its vmlinux (-k).",
			measured.mode === "samples" &&
				`What vCPUs did is told by samples alone. ${shown(measured.mode_reason || "")}`,
			measured.lost > 0 && `${measured.lost} samples were lost.`,
			measured.timeline_lost > 0 && `${measured.timeline_lost} events of the time line were lost.`,
			DATA.left_out > 0 && `${DATA.left_out} VMs have no bar here.`,
		].filter(Boolean);
		d3.select("#warnings").selectAll("li").data(warnings).join("li").text((text) => text);
	}

	function legend() {
		const there = new Set(DATA.timeline.states);
		for (const bar of DATA.bars)
			Object.keys(bar.classes_ns).forEach((id) => there.add(id));
		const words = new Map();
		for (const id of there)
			words.set(stateOf(id).word, stateOf(id));
		const states = [...words.values()].sort((a, b) => rank(a.id) - rank(b.id));
		d3.select("#legend").selectAll("li").data(states).join((enter) => {
			const item = enter.append("li");
			item.append("svg").attr("aria-hidden", "true").append("rect").attr("width", 14).attr("height", 14);
			item.append("span").text((state) => short(state.what ? `${state.word}: ${state.what}` : state.word, 80));
			return item;
		}).select("rect").attr("fill", fill);
	}

	function thievesOf(bar) {
		if (bar.host)
			return "";
		const stolen = bar.classes_ns.steal || 0;
		if (!stolen)
			return "nothing stolen";
		const names = bar.thieves.map(([name, ns]) => `${shown(name)} ${duration(ns)}`);
		if (bar.other_thieves_ns)
			names.push(`others ${duration(bar.other_thieves_ns)}`);
		return `${percent(stolen, bar.time_ns)} stolen: ${names.join("; ")}`;
	}

	function draw() {
		facts();
		legend();
		const rows = d3.select("#bars").selectAll("div.bar").data(DATA.bars).join((enter) => {
			const row = enter.append("div").attr("class", "bar").attr("tabindex", 0).attr("role", "img");
			const name = row.append("div").attr("class", "name");
			name.append("span").text(nameOf);
			name.append("small").text((bar) => (bar.vcpus ? ` ${bar.vcpus} vCPU${bar.vcpus > 1 ? "s" : ""}` : ""));
			row.append("svg");
			row.append("div").attr("class", "thieves").text(thievesOf)
				.attr("title", (bar) => thievesOf(bar));
			return row;
		});
		rows.attr("aria-label", (bar) => `${nameOf(bar)}: ${linesOf(bar).join("; ")}`)
			.on("focus", (event, bar) => {
				const box = event.currentTarget.getBoundingClientRect();
				tip.show(box.left + 130, box.top, [nameOf(bar), ...linesOf(bar)]);
			}).on("blur", tip.hide)
			.select(".name").attr("title", nameOf);
		rows.select("svg").selectAll("rect.state").data(parts).join("rect").attr("class", "state")
			.attr("height", "100%")
			.each(function place(part) {
				const x = d3.scaleLinear([0, part.bar.time_ns || 1], [0, 100]);
				d3.select(this).attr("x", `${x(part.from)}%`).attr("width", `${x(part.ns)}%`);
			})
			.attr("fill", (part) => fill(stateOf(part.id)))
			.on("mousemove", (event, part) => tip.show(event.clientX, event.clientY, [
				`${nameOf(part.bar)}: ${stateOf(part.id).word}`,
				`${percent(part.ns, part.bar.time_ns)} of ${duration(part.bar.time_ns)}`, exactNs(part.ns),
				stateOf(part.id).what,
				...(part.id === "steal" ? [thievesOf(part.bar)] : []),
			])).on("mouseleave", tip.hide);
		numbers();
	}

	function numbers() {
		const ids = [...new Set(DATA.bars.flatMap((bar) => Object.keys(bar.classes_ns)))]
			.sort((a, b) => rank(a) - rank(b));
		d3.select("#numbers thead").selectAll("tr").data([["ns", "all", ...ids.map((id) => short(stateOf(id).word, 20))]])
			.join("tr").selectAll("th").data((row) => row).join("th").text((word) => word);
		d3.select("#numbers tbody").selectAll("tr").data(DATA.bars).join("tr").selectAll("td")
			.data((bar) => [short(nameOf(bar), 40), bar.time_ns, ...ids.map((id) => bar.classes_ns[id] || 0)])
			.join("td").text((value) => (typeof value === "number" ? d3.format(",")(value).replace(/,/g, " ") : value));
	}

	return { draw };
})();
