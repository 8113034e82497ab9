"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const list = document.getElementById("list");
  if (!list) return;
  const rows = 200; // lines that are added at once

  const make = (tag, text, attributes) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text; // never HTML
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    return e;
  };
  const seconds = (s) => s <= 0 ? "0 s" : s < 0.0001 ? "< 0.1 ms" : s < 0.0995 ? (1000 * s).toFixed(1) + " ms" : s < 0.9995 ? (1000 * s).toFixed(0) + " ms" : s.toFixed(1) + " s";
  const size = (n) => {
    if (!n) return "";
    let unit = "B";
    for (const next of ["kB", "MB", "GB", "TB"]) if (n >= 1000) { n /= 1000; unit = next; }
    return (unit === "B" || n >= 99.95 ? n.toFixed(0) : n.toFixed(1)) + " " + unit;
  };

  // actions fills in the actions of a step when it is opened for the first time.
  const actions = (step) => {
    const at = Number(step.id.slice(1)), place = step.querySelector(".actions"), all = (data.steps[at] || {}).actions;
    if (!all || place.firstChild) return;
    place.append(make("h3", all.length === 1 ? "Its action" : "Its " + all.length + " actions"));
    const scroll = make("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Actions of " + data.steps[at].name });
    const table = make("table"), head = make("tr"), body = make("tbody");
    ["action", "outcome", "from", "took", "size of outputs", "why"].forEach((text, i) => head.append(make("th", text, i > 1 && i < 5 ? { scope: "col", class: "n" } : { scope: "col" })));
    const top = make("thead");
    top.append(head);
    table.append(top, body);
    scroll.append(table);
    place.append(scroll);
    const more = make("button", undefined, { type: "button" });
    let done = 0;
    const next = () => {
      for (const a of all.slice(done, done + rows)) {
        const line = make("tr");
        line.append(make("th", a[0] || "(the only one)", { scope: "row" }), make("td", a[1]), make("td", seconds(a[2]), { class: "n" }), make("td", seconds(a[3]), { class: "n" }), make("td", size(a[4]), { class: "n" }), make("td", data.reasons[a[5]], { class: "text" }));
        body.append(line);
      }
      done = Math.min(all.length, done + rows);
      more.textContent = "Show more of the other " + (all.length - done);
      more.hidden = done === all.length;
    };
    more.addEventListener("click", next);
    place.append(more);
    next();
  };
  list.addEventListener("toggle", (e) => { if (e.target.open && e.target.classList.contains("step")) actions(e.target); }, true);

  // ensure returns the line of a step, which it makes if it is not there yet.
  const ensure = (at) => {
    const had = document.getElementById("s" + at), s = data.steps[at];
    if (had || !s) return had;
    const step = make("details", undefined, { class: "step " + s.state, id: "s" + at }), line = make("summary");
    line.append(make("span", s.state, { class: "state" }), " ", make("code", s.name), " ", make("span", s.counts + (s.took ? ", " + s.took : ""), { class: "muted" }));
    step.append(line, make("div", undefined, { class: "actions" }));
    list.append(step);
    return step;
  };
  const more = document.getElementById("more");
  if (more) {
    let at = 0;
    more.addEventListener("click", () => {
      for (let n = 0; n < rows && at < data.steps.length; at++) if (!document.getElementById("s" + at)) { ensure(at); n++; }
      const left = data.steps.length - list.childElementCount;
      more.textContent = "Show more of the other " + left + " steps";
      more.hidden = left <= 0;
    });
  }

  const find = document.getElementById("find"), found = document.getElementById("found");
  find.addEventListener("input", () => {
    const text = find.value.toLowerCase();
    const fits = new Set();
    data.steps.forEach((s, at) => { if (s.name.toLowerCase().includes(text)) fits.add("s" + at); });
    if (text) for (const id of [...fits].slice(0, rows)) ensure(Number(id.slice(1)));
    for (const step of list.children) step.hidden = text !== "" && !fits.has(step.id);
    found.textContent = text ? fits.size + (fits.size === 1 ? " step" : " steps") : "";
  });

  // A link to a step opens it.
  const open = () => {
    const id = location.hash.slice(1);
    if (!/^s\d+$/.test(id)) return;
    const step = ensure(Number(id.slice(1)));
    if (!step) return;
    step.hidden = false;
    step.open = true;
    step.scrollIntoView();
    step.querySelector("summary").focus();
  };
  addEventListener("hashchange", open);
  document.addEventListener("click", (e) => {
    const a = e.target.closest && e.target.closest('a[href^="#s"]');
    if (!a || a.getAttribute("href") !== location.hash) return;
    e.preventDefault(); // going where one is already would take the focus away again
    open();
  });
  open();
})();
