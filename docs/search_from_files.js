/* Searches run in a worker, which browsers refuse to pages that are opened from files: there a hidden frame is the worker.
   The theme looks for `IFrameWorker` in the window around its worker. */
"use strict";
class IFrameWorker extends EventTarget {
  constructor(address) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.inside.document.createElement("script");
    script.src = address;
    this.ready = new Promise(resolve => script.addEventListener("load", resolve));
    this.inside.document.body.append(script);
  }

  async postMessage(data) {
    await this.ready;
    this.inside.dispatchEvent(new MessageEvent("message", { data }));
  }
}
if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
