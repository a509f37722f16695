// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Finds the data, keeps the header, and shows the view that the fragment names.
import {h} from "./dom.js";
import {Model} from "./model.js";
import * as state from "./state.js";
import {forget} from "./charts.js";
import {follow} from "./live.js";
import {overview} from "./view_overview.js";
import {results} from "./view_results.js";
import {casePage} from "./view_case.js";
import {historyPage} from "./view_history.js";
import {sweepPage} from "./view_sweep.js";
import {rooflinePage} from "./view_roofline.js";
import {calibrationPage} from "./view_calibration.js";
import {rowsPage} from "./view_rows.js";
import {runsPage} from "./view_runs.js";

const VIEWS = {
  overview: ["Overview", overview],
  results: ["Results", results],
  case: ["Cases", casePage],
  history: ["History", historyPage],
  runs: ["Run against run", runsPage],
  sweep: ["Sweep", sweepPage],
  roofline: ["Roofline", rooflinePage],
  calibration: ["Calibration", calibrationPage],
  rows: ["Rows", rowsPage],
};

const content = document.getElementById("content");
const top_ = document.getElementById("top");
const status = h("span", {class: "live", role: "status", hidden: true});
let model = null;
let where = "";

function header() {
  const {view} = state.read();
  top_.replaceChildren(
      h("a", {class: "brand", href: "#/overview"}, model ? model.title : "Assay"),
      h("nav", {"aria-label": "Pages"},
        Object.entries(VIEWS).map(
            ([name, [title]]) =>
                h("a", {href: "#/" + name, "aria-current": view === name ? "page" : null}, title))),
      status,
      h("button", {type: "button", class: "theme", onclick: turnTheme, "aria-label": "Light or dark"}, "◐"));
}

function draw(keepPlace) {
  if (!model) return;
  const now = state.read();
  const [title, view] = VIEWS[now.view] || VIEWS.overview;
  const y = window.scrollY;
  const focus = document.activeElement && content.contains(document.activeElement) ?
      pathTo(document.activeElement) :
      null;
  forget(content);
  document.title = [now.name, title, model.title]
                       .filter(Boolean)
                       .map((part) => (part.length > 80 ? part.slice(0, 79) + "…" : part))
                       .join(" · ");
  try {
    content.replaceChildren(...[view(model, now, () => draw(true))].flat(2).filter(Boolean));
  } catch (error) {
    console.error(error);
    content.replaceChildren(h("p", {class: "notice"}, "This page could not be drawn: " + error.message));
  }
  header();
  if (keepPlace) {
    window.scrollTo(0, y);
    const again = focus && find(focus);
    if (again) again.focus({preventScroll: true});
  }
  content.setAttribute("data-ready", now.view);
}

// An element's place among its siblings, up to the content, to find its successor after a redraw.
function pathTo(element) {
  if (element.id) return {id: element.id};
  const path = [];
  for (let at = element; at !== content; at = at.parentElement)
    path.unshift([...at.parentElement.children].indexOf(at));
  return {path, value: element.value, start: element.selectionStart};
}

function find({id, path}) {
  if (id) return document.getElementById(id);
  return path.reduce((at, index) => at && at.children[index], content);
}

function turnTheme() {
  const root = document.documentElement;
  const now = getComputedStyle(root).getPropertyValue("--scheme").trim();
  root.dataset.theme = now === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("assay-theme", root.dataset.theme);
  } catch { /* kept for this visit only */
  }
  draw(true);
}

// The data inside the page: JSON, compressed, in base64.
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (digit) => digit.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

async function start() {
  try {
    const kept = localStorage.getItem("assay-theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch { /* no storage: the system's choice */
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
  window.addEventListener("hashchange", () => {
    const {view, name} = state.read();
    const place = view + "/" + name;
    draw(place === where);
    if (place !== where) window.scrollTo(0, 0);
    where = place;
  });
  document.querySelector("[data-skip]").addEventListener("click", (event) => {
    event.preventDefault();
    content.focus();
  });
  const {view, name} = state.read();
  where = view + "/" + name;
  header();
  content.replaceChildren(h("p", {class: "lead"}, "Reading rows …"));
  const inside = document.getElementById("data").textContent;
  if (inside) {
    model = new Model(await unpacked(inside));
    draw(false);
    return;
  }
  status.hidden = false;
  follow(
      (document_) => {
        const before = model ? model.rows.count : null;
        model = new Model(document_);
        if (before !== null) model.seen = before;
        draw(before !== null);
        const fresh =
            before !== null && model.rows.count > before ? `, ${model.rows.count - before} new` : "";
        status.textContent = `live: ${model.rows.count.toLocaleString("en")} rows${fresh}`;
      },
      (trouble) => {
        status.classList.toggle("bad", Boolean(trouble));
        if (trouble)
          status.textContent = "no answer: " + trouble;
        else if (model && status.textContent.startsWith("no answer"))
          status.textContent = `live: ${model.rows.count.toLocaleString("en")} rows`;
      });
}

start();
