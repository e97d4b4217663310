// An item's page: its embedding as it gets ready, and a tool that is run without leaving the page.
"use strict";

(() => {
  const item = document.querySelector("[data-item]");
  if (!item) return;

  function followEmbedding() {
    const state = () => document.querySelector("[data-embedding-state]");
    if (!state() || state().dataset.embeddingState !== "pending") return;
    const events = `/events?item=${encodeURIComponent(item.dataset.item)}`;
    window.pegboardFollow(events, ["item"], async () => {
      await window.pegboardReplace(state(), `${item.dataset.path}?part=embedding`);
      return Boolean(state()) && state().dataset.embeddingState === "pending";
    });
  }

  // The form is sent by itself, so that what is on the page stays; without script it is sent as usual.
  function runHere() {
    const section = document.querySelector("[data-try]");
    if (!section) return;
    let running = null;

    section.addEventListener("submit", async (event) => {
      const form = event.target.closest("[data-try-form]");
      if (!form || running) return;
      event.preventDefault();
      running = new AbortController();
      const done = atWork(form, running);
      try {
        const answer = await fetch(`${form.getAttribute("action").split("#")[0]}?part=try`, {
          method: "POST",
          body: new URLSearchParams(new FormData(form)),
          signal: running.signal,
          headers: { Accept: "text/html" },
        });
        const found = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (answer.ok || answer.status === 422) {
          section.replaceChildren(...found.body.childNodes);
          const shown = section.querySelector("[data-tried]") || section.querySelector("[aria-invalid]");
          if (shown) shown.focus();
        } else {
          complain(form, ...found.body.childNodes);
        }
      } catch (error) {
        const text = error.name === "AbortError" ? "Stopped." : "The board does not answer. Is it still being served?";
        const told = document.createElement("p");
        told.className = "notice bad";
        told.setAttribute("role", "alert");
        told.textContent = text;
        complain(form, told);
      } finally {
        running = null;
        done();
      }
    });

    section.addEventListener("click", (event) => {
      if (event.target.closest("[data-stop]") && running) running.abort();
    });
  }

  function complain(form, ...nodes) {
    for (const old of form.parentElement.querySelectorAll("[data-complaint]")) old.remove();
    const place = document.createElement("div");
    place.dataset.complaint = "";
    place.append(...nodes);
    form.before(place);
  }

  function atWork(form, running) {
    const button = form.querySelector("[data-run]");
    const clock = form.querySelector("[data-clock]");
    const stop = form.querySelector("[data-stop]");
    const began = Date.now();
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    stop.hidden = false;
    clock.textContent = "Running";
    const ticking = setInterval(() => {
      clock.textContent = `Running, ${Math.round((Date.now() - began) / 1000)} s`;
    }, 1000);
    return () => {
      clearInterval(ticking);
      button.disabled = false;
      button.removeAttribute("aria-busy");
      stop.hidden = true;
      clock.textContent = "";
    };
  }

  followEmbedding();
  runHere();
})();
