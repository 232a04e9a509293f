// Elements, and what is said aloud.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    // The page's policy allows no style attributes; the same text may be set as a property.
    if (name === "style") element.style.cssText = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value === "boolean") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Makes an element; attributes that begin with "on" are listeners.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// Makes an element of a drawing.
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A button that says what it does.
export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

// Returns a button that asks before it acts, where that needs to be asked: a second click within four seconds says yes. It has
// `rename`, which changes its text.
export function sureButton(text, question, needsAsking, act, attributes) {
  let calm = null;
  const ask = (isAsking) => {
    clearTimeout(calm);
    calm = isAsking ? setTimeout(() => ask(false), 4000) : null;
    found.textContent = isAsking ? question : text;
  };
  const found = button(text, () => {
    if (calm === null && needsAsking()) return ask(true);
    ask(false);
    return act();
  }, attributes);
  found.rename = (other) => {
    text = other;
    if (calm === null) found.textContent = text;
  };
  return found;
}

// Puts other elements into a place. The same ones stay, so that no click on them is lost: their listeners must do the same. Where a
// button has the focus, the one that takes its place gets it. Returns whether there are other ones now.
export function replaceButtons(place, elements) {
  if (elements.length === place.children.length && elements.every((element, index) => element.isEqualNode(place.children[index]))) return false;
  const at = [...place.querySelectorAll("button")].indexOf(document.activeElement);
  place.replaceChildren(...elements);
  if (at >= 0) place.querySelectorAll("button")[at]?.focus({ preventScroll: true });
  return true;
}

// A choice among options, each a text or [value, text], or a group { label, options }.
export function select(label, options, value, onchange, attributes = {}) {
  const option = (one) => {
    if (one.options) return el("optgroup", { label: one.label }, one.options.map(option));
    const [key, text] = Array.isArray(one) ? one : [one, one];
    return el("option", { value: key }, text);
  };
  const chosen = el("select", { onchange: () => onchange(chosen.value), ...attributes }, options.map(option));
  if (value !== undefined) chosen.value = value;
  return el("label", { class: "field" }, el("span", {}, label), chosen);
}

// Chooses a value of a field that `select` has made; one that it does not have is added.
export function choose(field, value, text = value) {
  const chosen = field.querySelector("select");
  chosen.value = value;
  if (chosen.value === value) return;
  chosen.append(el("option", { value }, text));
  chosen.value = value;
}

// Shows a text, or nothing where there is none. One that stands there already is left: it would be read out again.
export function showText(place, text) {
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
}

// Says something to those who listen to the page.
export function say(text) {
  document.getElementById("said").textContent = text;
}

// Shows a fault until the next one or until the part of the page changes.
export function showFault(error) {
  const place = document.getElementById("fault");
  // The program's sentences go on from others; the name of a file is left as it is.
  place.querySelector("p").textContent = error ? String(error.message ?? error).replace(/^[a-z]+(?= )/, (word) => word[0].toUpperCase() + word.slice(1)) : "";
  place.hidden = !error;
}

// Runs what may fail, and shows why it did.
export async function attempt(work) {
  try {
    const done = await work();
    showFault(null);
    return done;
  } catch (error) {
    showFault(error);
    return undefined;
  }
}

// Offers a text as a file.
export function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Copies a text; where the browser does not let the page, selects it to be copied.
export async function copy(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    field?.focus();
    field?.select();
  }
}

// A command line, and a button that copies it.
export function command(text) {
  return el("span", {}, el("code", {}, text), " ", button("Copy", () => copy(text), { class: "plain", "aria-label": `Copy ${text}` }));
}
