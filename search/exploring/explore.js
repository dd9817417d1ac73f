"use strict";
const settings = JSON.parse(at("settings").textContent);
const names = data.steps.slice(1).map(one => one.action);  // of the path, which may go on after the step that is shown
const LISTED = 200;  // actions listed at most
const answers = new Map();  // of the server, by address: an e-state never changes
let searching = null;  // ends the search
let arrived = null;  // the step whose actions are shown
let late = null;  // leads to a plan that was found while another step was shown

const eyes = [[], ...data.agents.map((_, agent) => [agent])].map(agents =>
  [agents, agents.length
    ? button(data.agents[agents[0]], "as " + data.agents[agents[0]] + " sees it", () => look(agents))
    : button("in fact", "", () => look(agents))]);
at("size").before(make("nav", { id: "eyes", "aria-label": "as seen by whom" }, ...eyes.map(([, eye]) => eye)));
eyes[0][1].after(make("span", { class: "note" }, "or as seen by"));

/* Names for an address, in the grammar of command lines: quoted unless they read as one name. */
function listed(names) {
  const isPlain = name => /^[^\s,'"()[\]{}]([^,'"()[\]{}]*[^\s,'"()[\]{}])?\s*(\([^'"()[\]{}]*\))?$/.test(name);
  const written = names.map(name => isPlain(name) ? name : "'" + name.replace(/['\\]/g, "\\$&") + "'");
  return encodeURIComponent(written.join(",")).replaceAll("%2C", ",");
}

function address(path, number = path.length) {
  return "/" + (path.length ? "?after=" + listed(path) + (number < path.length ? "&step=" + number : "") : "");
}

function here() {
  return names.slice(0, step);
}

/* A link that looks like a button, whose text breaks between the parts of a name. */
function link(text, path, number) {
  const parts = text.split(/(?<=[_,(])/).flatMap((part, place) => place ? [make("wbr", {}), part] : [part]);
  return make("a", { class: "button", href: address(path, number) }, ...parts);
}

async function ask(url, options = {}) {
  let answer;
  try {
    const headers = { Accept: "application/json", "Content-Type": "application/json" };
    answer = await (await fetch(url, { ...options, headers })).json();
  } catch (error) {
    throw options.signal?.aborted ? error : new Error("the server does not answer: start it again");
  }
  if (answer.error) throw new Error(answer.error);
  return answer;
}

/* The answer to a question about an e-state; another one may be shown when it comes. */
async function known(url) {
  if (!answers.has(url)) answers.set(url, await ask(url));
  return answers.get(url);
}

function wrong(error) {
  return make("p", { class: "wrong" }, error.message);
}

function arrive() {
  history.replaceState(null, "", address(names, step));
  if (step) at("undo").href = address(step < names.length ? names : here().slice(0, -1), step - 1);
  else at("undo").removeAttribute("href");
  showEyes();
  if (arrived === step) return;
  arrived = step;
  showActions();
  if (!searching) showRest();
}

async function showEyes() {
  for (const [agents, eye] of eyes) {
    if (String(agents) === String(path)) eye.setAttribute("aria-current", "true");
    else eye.removeAttribute("aria-current");
  }
  if (!path.length) return;
  if (!viewAt(step)) {  // whose eyes see nothing
    for (const id of ["size", "key", "world"]) at(id).replaceChildren();
    return at("picture").replaceChildren(at("beliefs").textContent);
  }
  const url = "/perspective?after=" + listed(here()) + "&as=" + listed(path.map(agent => data.agents[agent]));
  const [asked, whose] = [step, path];
  const still = () => asked === step && whose === path;
  try {
    const seen = await known(url);
    if (still()) draw(seen, "as " + path.map(agent => data.agents[agent]).join(" believes that ") + " sees it: ", "");
  } catch (error) {
    if (still()) at("picture").replaceChildren(wrong(error));
  }
}

async function showActions() {
  const asked = step, url = "/actions?after=" + listed(here());
  if (!answers.has(url)) {
    at("listed").textContent = "looking at what can be done …";
    at("actions").replaceChildren();
  }
  try {
    const choices = await known(url);
    if (asked === step) list(choices);
  } catch (error) {
    if (asked === step) at("listed").replaceChildren(wrong(error));
  }
}

function list(choices) {
  const words = at("filter").value.toLowerCase().split(" ");
  const found = choices.filter(({ name }) => words.every(word => name.toLowerCase().includes(word)));
  if (at("sorted").checked) found.sort((one, other) => (one.value ?? Infinity) - (other.value ?? Infinity) || 0);
  const shown = found.slice(0, LISTED);
  at("listed").textContent = new Set(choices.map(({ action }) => action)).size + " of " + settings.actions
    + " actions can be taken"
    + (found.length < choices.length ? ", " + found.length + " fit" : "")
    + (shown.length < found.length ? ", the first " + shown.length + " are listed: filter for others" : "");
  const heads = ["action", settings.heuristic, "leads to", "beliefs"];
  at("actions").replaceChildren(make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map(text => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...shown.map(row))));
  hint();
}

function row(choice) {
  const isInfinite = choice.value === null;  // which is no proof of a dead end
  const marks = [choice.is_goal && "goal", choice.is_same && "same e-state", isInfinite && "no relaxed plan"];
  const value = isInfinite ? "∞" : String(Number(choice.value.toFixed(3)));
  const what = button("what if", "what agents would believe after " + choice.name,
    () => tellBeliefs(what, choice.name));
  what.setAttribute("aria-expanded", "false");
  const taken = link(choice.name, [...here(), choice.name]);
  if (choice.name === names[step]) taken.setAttribute("aria-current", "step");
  return make("tr", {},
    make("td", {}, taken),
    make("td", {}, value),
    make("td", { class: choice.is_goal ? "done" : isInfinite ? "w" : "note" }, marks.filter(Boolean).join(", ")),
    make("td", {}, what));
}

/* What agents would believe about facts after an action, below its row; or no longer. */
async function tellBeliefs(what, action) {
  const row = what.closest("tr"), isOpen = what.getAttribute("aria-expanded") === "true";
  what.setAttribute("aria-expanded", String(!isOpen));
  if (isOpen) return row.nextElementSibling.remove();
  const cell = make("td", { colspan: row.children.length }, "asking …");
  row.after(make("tr", { class: "if" }, cell));
  try {
    cell.replaceChildren(...beliefs(action,
      await known("/beliefs?after=" + listed(here()) + "&action=" + encodeURIComponent(action))));
  } catch (error) {
    cell.replaceChildren(wrong(error));
  }
}

function beliefs(action, changes) {
  if (!changes.length) return ["After " + action + " all believe about facts what they do now."];
  const heads = ["after " + action, "believes of", "now", "then"];
  const others = data.agents.filter(agent => changes.every(change => change.agent !== agent));
  return [make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map(text => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...changes.map(({ agent, fluent, now, afterwards }) => make("tr", {},
      ...[agent, fluent, now, afterwards].map(text => make("td", {}, text)))))),
    ...(others.length ? [make("p", { class: "note" }, "nothing changes for " + others.join(", "))] : [])];
}

/* Where the path goes on, its other actions: a plan that was found, or what was undone by going back. */
function showRest() {
  const rest = names.slice(step), { reached } = data.steps[last];
  at("told").textContent = !rest.length ? reached.every(Boolean) ? "The goal is reached here." : ""
    : rest.length + (rest.length === 1 ? " action goes" : " actions go") + " on from here"
      + (reached.every(Boolean) ? " and " + (rest.length === 1 ? "reaches" : "reach") + " the goal:" : ":");
  if (late) at("told").append(" ", late);
  at("rest").replaceChildren(...rest.map((name, number) => make("li", {}, link(name, names, step + number + 1))));
}

async function solve() {
  const start = here(), began = Date.now();
  const stop = new AbortController();
  searching = stop;
  at("solve").disabled = true;
  at("stop").hidden = false;
  at("stop").focus();
  at("rest").replaceChildren();
  at("told").textContent = "Searching with " + settings.searcher
    + (settings.timeLimit === null ? "" : ", for at most " + settings.timeLimit + " s")
    + ". You can look at other steps meanwhile; an action stops the search.";
  const clock = setInterval(() => at("clock").textContent = Math.round((Date.now() - began) / 1000) + " s", 1000);
  try {
    const { plan, told } = await ask("/solve?after=" + listed(start),
      { method: "POST", body: "{}", signal: stop.signal });
    at("told").textContent = told;
    if (!plan?.length) return;
    if (step === start.length) return location.assign(address([...start, ...plan], start.length));
    late = link("show the plan from step " + start.length, [...start, ...plan], start.length);
    at("told").append(" ", late);
  } catch (error) {
    if (stop.signal.aborted) at("told").textContent = "The search was stopped.";
    else at("told").replaceChildren(wrong(error));
  } finally {
    clearInterval(clock);
    searching = null;
    at("solve").disabled = false;
    if (document.activeElement === at("stop")) at("solve").focus();
    at("stop").hidden = true;
    at("clock").textContent = "";
  }
}

/* Keys that act in the list of actions, or undo, find the focus there on the next page. */
function keepFocus(event) {
  if (event.detail === 0 && event.target.closest("a[href]")) sessionStorage.setItem("focus", event.currentTarget.id);
}

function restoreFocus() {
  const id = sessionStorage.getItem("focus");
  sessionStorage.removeItem("focus");
  if (id) at(id === "undo" && !step ? "actions" : id).focus();
}

at("summary").textContent = sumUp(settings.actions, "action");
at("plan-title").textContent = "Path";
at("sorted").checked = sessionStorage.getItem("sorted") === "true";
at("sorted").addEventListener("change", () => {
  sessionStorage.setItem("sorted", at("sorted").checked);
  showActions();
});
at("filter").addEventListener("input", showActions);
at("filter").addEventListener("keydown", event => {
  if (event.key === "Enter") at("actions").querySelector("tbody .button")?.click();
});
for (const id of ["actions", "undo"]) at(id).addEventListener("click", keepFocus);
at("solve").addEventListener("click", solve);
at("stop").addEventListener("click", () => searching.abort());
window.addEventListener("pagehide", () => searching?.abort());
remember = () => {};  // the address of a step is that of its path, see `arrive`
document.addEventListener("shown", arrive);
const asked = Math.trunc(new URLSearchParams(location.search).get("step") ?? last);
go(Number.isNaN(asked) ? last : asked);
restoreFocus();
