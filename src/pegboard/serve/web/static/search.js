// Results while one types; keys that move among them; the address follows.
"use strict";

(() => {
  const WAIT = 120;
  const form = document.querySelector("[data-search]");
  const box = document.getElementById("query");
  const results = document.querySelector("[data-results]");
  const filters = document.getElementById("filters");
  const announced = document.querySelector("[data-announce]");
  if (!form || !box || !results) return;

  let waiting = 0;
  let running = null;
  let shown = address();
  let settled = Promise.resolve();

  function address() {
    const said = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value.trim()) said.append(name, name === "query" ? value.trim() : value);
    }
    const query = said.toString();
    return query ? `/ui/?${query}` : "/ui/";
  }

  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(now, WAIT);
  }

  function now() {
    clearTimeout(waiting);
    waiting = 0;
    const wanted = address();
    if (wanted === shown && !running) return settled;
    settled = show(wanted);
    return settled;
  }

  async function show(wanted) {
    if (running) running.abort();
    const mine = new AbortController();
    running = mine;
    const slow = setTimeout(() => results.setAttribute("aria-busy", "true"), 150);
    try {
      const typed = new URL(wanted, location.href).searchParams.has("query");
      const part = typed ? `${wanted}&part=results` : wanted;
      const answer = await fetch(part, { signal: mine.signal, headers: { Accept: "text/html" } });
      const text = await answer.text();
      if (mine.signal.aborted) return;
      if (answer.status === 401) return location.assign(wanted);
      put(text, typed);
      shown = wanted;
      history.replaceState(null, "", wanted);
      document.title = box.value.trim() ? `${box.value.trim()} · Pegboard` : "Pegboard";
    } catch (error) {
      if (error.name === "AbortError") return;
      put(lost(), true);
      shown = "";
    } finally {
      clearTimeout(slow);
      if (running === mine) {
        running = null;
        results.removeAttribute("aria-busy");
      }
    }
  }

  function lost() {
    return '<div class="empty" role="alert"><p class="empty-head">The board does not answer</p><p>Is it still being served? Type on, and it is asked again.</p></div>';
  }

  // What the server sends is made of escaped text; it is parsed as it would be in a page.
  function put(text, isPart) {
    const found = new DOMParser().parseFromString(text, "text/html");
    const source = isPart ? found.body : found.querySelector("[data-results]") || found.body;
    results.replaceChildren(...source.childNodes);
    tell();
  }

  // To those who do not see the results; the place stays, so that what it says is noticed.
  function tell() {
    const summary = results.querySelector("[data-summary], .empty-head");
    announced.textContent = summary ? summary.textContent : "";
  }

  async function narrowed() {
    const wanted = address();
    if (running) running.abort();
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(wanted, { headers: { Accept: "text/html" } });
      if (!answer.ok) return location.assign(wanted);
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      const focused = document.activeElement;
      const mark = focused && focused.name ? [focused.name, focused.value] : null;
      results.replaceChildren(...found.querySelector("[data-results]").childNodes);
      tell();
      const open = [...filters.querySelectorAll("details")].map((each) => each.open);
      filters.querySelector(".filters-body").replaceWith(found.querySelector(".filters-body"));
      filters.querySelector("summary").replaceWith(found.querySelector("#filters > summary"));
      filters.querySelectorAll("details").forEach((each, at) => (each.open = Boolean(open[at])));
      if (mark) refocus(mark);
      shown = wanted;
      history.replaceState(null, "", wanted);
    } catch {
      location.assign(wanted);
    } finally {
      results.removeAttribute("aria-busy");
    }
  }

  function refocus([name, value]) {
    for (const each of filters.querySelectorAll("input, select")) {
      if (each.name === name && (each.type !== "checkbox" || each.value === value)) return each.focus();
    }
  }

  const links = () => [...results.querySelectorAll("[data-hit]")];

  function move(step) {
    const all = links();
    const at = all.indexOf(document.activeElement) + step;
    if (at < 0) return box.focus();
    const next = all[Math.min(at, all.length - 1)];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.closest(".hit").scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("input", later);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await now();
    const [first] = links();
    if (first) first.focus();
  });

  filters.addEventListener("change", (event) => {
    // Of the states, one at a time.
    if (event.target.name === "state" && event.target.checked) {
      for (const each of filters.querySelectorAll("[name=state]")) each.checked = each === event.target;
    }
    narrowed();
  });

  document.addEventListener("keydown", (event) => {
    const among = event.target === box || event.target.matches("[data-hit]");
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown" && among) {
      event.preventDefault();
      move(1);
    } else if (event.key === "ArrowUp" && event.target.matches("[data-hit]")) {
      event.preventDefault();
      move(-1);
    } else if (event.key === "Escape" && (among || results.contains(event.target))) {
      event.preventDefault();
      box.value = "";
      box.focus();
      now();
    }
  });

  // Typed while the page was still loading.
  if (address() !== shown || box.value.trim() !== (new URLSearchParams(location.search).get("query") || "").trim()) later();
})();
