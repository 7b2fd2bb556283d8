// SPDX-License-Identifier: GPL-2.0
// The start of the page, its theme, and what stands behind # in its address: theme=dark, from= and to=
// (seconds from the start), of= (what functions are of, by its place in the list), check.
"use strict";

(() => {
	const wanted = new URLSearchParams(location.hash.slice(1));

	function setTheme(theme) {
		document.documentElement.dataset.theme = theme;
		element("theme").textContent = theme === "dark" ? "Light" : "Dark";
	}

	const system = matchMedia("(prefers-color-scheme: dark)");
	setTheme(wanted.get("theme") || (system.matches ? "dark" : "light"));

	function redraw() {
		bars.draw();
		timeline.redraw();
		flame.draw();
	}
	element("theme").addEventListener("click", () => {
		setTheme(isDark() ? "light" : "dark");
		redraw();
	});
	system.addEventListener("change", () => {
		setTheme(system.matches ? "dark" : "light");
		redraw();
	});

	bars.draw();
	timeline.start();
	flame.start();
	timeline.onChange(flame.setView);
	if (wanted.has("from") || wanted.has("to"))
		timeline.setView(1e9 * (wanted.get("from") || 0), wanted.has("to") ? 1e9 * wanted.get("to") : timeline.span);
	if (wanted.has("of") && element("of").options[wanted.get("of")]) {
		element("of").selectedIndex = wanted.get("of");
		flame.draw();
	}
	timeline.draw();
	const opened = performance.now();
	document.documentElement.dataset.openedMs = opened.toFixed(0);
	if (wanted.has("check"))
		check(opened);
})();
