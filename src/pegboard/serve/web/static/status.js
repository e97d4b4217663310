// The status page follows the board while something is at work, and notices when something begins.
"use strict";

(() => {
  const part = () => document.querySelector("[data-status]");
  if (!part()) return;
  window.pegboardFollow("/events", ["status"], async () => {
    await window.pegboardReplace(part(), "/ui/status?part=status");
    return true;
  });
})();
