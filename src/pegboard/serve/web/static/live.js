// Parts of a page that follow the board: told by its events, and by looking again where there are none.
"use strict";

(() => {
  const FIRST = 700;
  const LONGEST = 5000;
  const TOLD = 15000; // between looks while events come: each of them makes the page look at once
  const PAUSE = 250;

  // Put a part of a page in the place of what is there; false if it cannot be had.
  async function replace(target, address) {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) return false;
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    target.replaceWith(...found.body.childNodes);
    return true;
  }

  // `look` fetches the part anew, and says whether there is more to wait for.
  window.pegboardFollow = function follow(events, names, look) {
    let wait = FIRST;
    let timer = 0;
    let looking = false;
    let again = false;
    let over = false;
    let source = null;

    async function turn() {
      clearTimeout(timer);
      if (looking) {
        again = true;
        return;
      }
      looking = true;
      let more = true;
      try {
        more = await look();
      } catch {
        more = true; // The board may be back at the next look.
      }
      looking = false;
      if (!more) return end();
      if (again) {
        again = false;
        timer = setTimeout(turn, PAUSE);
        return;
      }
      const told = source && source.readyState === EventSource.OPEN;
      timer = setTimeout(turn, told || document.hidden ? TOLD : wait);
      wait = Math.min(wait * 1.5, LONGEST);
    }

    function end() {
      over = true;
      clearTimeout(timer);
      deaf();
    }

    function heard() {
      if (over) return;
      wait = FIRST;
      clearTimeout(timer);
      timer = setTimeout(turn, PAUSE);
    }

    // A browser has few connections to a host: a page that nobody sees keeps none.
    function listen() {
      if (over || source || document.hidden || !window.EventSource) return;
      source = new EventSource(events);
      source.onmessage = heard;
      for (const name of names) source.addEventListener(name, heard);
      source.onerror = () => {
        if (source && source.readyState === EventSource.CLOSED) source = null;
        heard(); // without events, the page has to look by itself
      };
    }

    function deaf() {
      if (source) source.close();
      source = null;
    }

    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return deaf();
      listen();
      heard();
    });
    addEventListener("pagehide", deaf);
    addEventListener("pageshow", (event) => {
      if (event.persisted) listen();
    });
    listen();
    timer = setTimeout(turn, wait);
  };

  window.pegboardReplace = replace;
})();
