// Draws what dashboard.py tells once a second. No library; nothing comes from elsewhere.
"use strict";

const byId = (id) => document.getElementById(id);
const kHistorySeconds = 3600;
let history = [];
let joined = false; // the sync made hints of its own

// --- numbers ---------------------------------------------------------------------------------------

function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; unit += 1; }
  return `${bytes.toFixed(unit > 0 && bytes < 100 ? 1 : 0)} ${units[unit]}`;
}

function durationText(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
}

const count = (n) => Math.round(n).toLocaleString("en");

// --- what the node does ----------------------------------------------------------------------------

const kStateTexts = {
  converting: "Converting the hints",
  waiting: "Waiting for headers", joining: "Making hints from the blocks",
  validating: "Checking every rule and script", folding: "Adding coins",
  judging: "Proving the hints", loading: "Writing the chainstate",
  publishing: "Putting the chainstate in place", accepted: "Hints proven", refused: "Hints refused",
};
const kBusy = ["converting", "waiting", "joining", "validating", "folding", "judging", "loading",
  "publishing"];

/** {text, fraction, left}: what the headline and the bar show. */
function work(booster, chain) {
  if (kBusy.includes(booster.state)) {
    const part = booster.join || booster;
    const own = part.totalbytes > 0 ? Math.min(1, part.bytes / part.totalbytes) : 0;
    const fraction = booster.progress !== undefined ? booster.progress : own;
    return { text: kStateTexts[booster.state], fraction, left: booster.timeleft ?? part.timeleft };
  }
  if (chain.error) return { text: chain.error, fraction: 0 };
  if (chain.initialblockdownload && chain.blocks === chain.headers) {
    return { text: `Block ${count(chain.blocks)}, looking for newer ones`,
      fraction: chain.verificationprogress || 0 };
  }
  if (chain.initialblockdownload) {
    return { text: "Connecting blocks", fraction: chain.verificationprogress || 0 };
  }
  return { text: `At the tip, block ${count(chain.blocks)}`, fraction: 1 };
}

function figures(booster, chain, now) {
  const out = [`${(now.fraction * 100).toFixed(now.fraction < 1 ? 1 : 0)} %`];
  if (booster.step) out.push(`step ${booster.step} of ${booster.steps}`);
  if (now.left !== undefined) out.push(`${durationText(now.left)} left`);
  if (booster.download) {
    out.push(`${count(booster.download.received)} of ${count(booster.download.blocks)} blocks fetched`);
  }
  if (!chain.error && chain.headers > chain.blocks) {
    out.push(`block ${count(chain.blocks)} of ${count(chain.headers)}`);
  }
  return out.join(" · ");
}

/** The states of a sync in their order, with those that this one has. */
function showSteps(booster) {
  const list = byId("steps");
  list.replaceChildren();
  if (!booster.state || ["off", "idle"].includes(booster.state)) return;
  const all = ["folding", "judging", "loading", "accepted"];
  joined = joined || ["joining", "validating"].includes(booster.state);
  if (joined) all.unshift("joining");
  const at = booster.state === "publishing" ? all.length - 2
    : booster.state === "validating" ? 0 : all.indexOf(booster.state);
  all.forEach((state, index) => {
    const item = document.createElement("li");
    item.textContent = kStateTexts[state];
    if (index < at || booster.state === "accepted") item.className = "done";
    else if (index === at) item.className = "now";
    list.append(item);
  });
}

// --- what is checked -------------------------------------------------------------------------------

const kAlways = ["Proof of work, ids, merkle roots", "Nothing is spent twice or out of nothing"];
const kSpent = "Amounts, maturity, relative locks of spent coins";
const kScripts = "Scripts and signatures";

function showTrust(booster) {
  const checked = [...kAlways], trusted = [];
  const busy = booster.state && !["off", "idle"].includes(booster.state);
  const undone = booster.undo && booster.undo.height < booster.undo.terminalheight;
  if (booster.fullvalidation) checked.push(kSpent);
  else if (undone || (busy && booster.state !== "accepted")) trusted.push(kSpent);
  else checked.push(`${kSpent} (not with -ibdboosterundo=0)`);
  (booster.fullvalidation || !busy ? checked : trusted).push(
    busy || booster.fullvalidation ? kScripts : `${kScripts} above the assumed-valid block`);
  if (!busy) trusted.push(`${kScripts} below the assumed-valid block`);
  fill("checked", checked);
  fill("trusted", trusted.length ? trusted : ["Nothing"]);
}

function fill(id, texts) {
  byId(id).replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

// --- plots -----------------------------------------------------------------------------------------

const kSvg = "http://www.w3.org/2000/svg";

function part(svg, name, attributes, text) {
  const element = document.createElementNS(kSvg, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  if (text !== undefined) element.textContent = text;
  svg.append(element);
}

/** The least round number above. */
function roundAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((round) => round >= value);
}

function plot(id, field, unit) {
  const svg = byId(id), width = svg.clientWidth || 300, height = svg.clientHeight || 144;
  const left = 44, bottom = height - 18, top = 8;
  svg.replaceChildren();
  const values = history.map((sample) => sample[field] / unit);
  const most = roundAbove(Math.max(...values, 0.1));
  const end = history.length ? history[history.length - 1].time : 0;
  const span = Math.max(60, end - (history.length ? history[0].time : 0));
  const x = (time) => left + (width - left - 4) * (1 - (end - time) / span);
  const y = (value) => bottom - (bottom - top) * value / most;
  for (const value of [0, most / 2, most]) {
    part(svg, "line", { x1: left, x2: width, y1: y(value), y2: y(value) });
    part(svg, "text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" },
      Number(value.toPrecision(2)));
  }
  part(svg, "text", { x: left, y: height - 3 }, `${durationText(span)} ago`);
  part(svg, "text", { x: width - 2, y: height - 3, "text-anchor": "end" }, "now");
  if (!values.length) return;
  const path = values.map((value, i) => `${x(history[i].time).toFixed(1)},${y(value).toFixed(1)}`);
  part(svg, "path", { d: `M${path.join("L")}` });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `now ${values[values.length - 1].toFixed(1)}, axis to ${most}`);
}

// --- the rest --------------------------------------------------------------------------------------

function showPeers(peers) {
  byId("peer-count").textContent = peers.length ? `(${peers.length})` : "";
  byId("peers").replaceChildren(...peers.map((peer) => {
    const row = document.createElement("tr");
    const cell = (text, number) => {
      const td = document.createElement("td");
      td.textContent = text;
      if (number) td.className = "number";
      row.append(td);
    };
    cell(peer.addr);
    cell(peer.inbound ? "in" : `out, ${peer.connection_type}`);
    cell(peer.subver || "–");
    cell(`${bytesText(peer.rate)}/s`, true);
    cell(peer.pingtime == null ? "–" : `${Math.round(peer.pingtime * 1000)} ms`, true);
    return row;
  }));
}

function showWarnings(chain, network) {
  const texts = [chain.warnings, network.warnings].flat().filter((text) => text);
  const unique = [...new Set(texts)];
  byId("warnings").hidden = unique.length === 0;
  byId("warnings").querySelector("ul").replaceChildren(...unique.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

function showTrouble(text) {
  byId("trouble").hidden = !text;
  byId("trouble").textContent = text || "";
}

function show(state) {
  if (state.error) {
    const since = state.answered ? ` It last answered ${durationText(state.time - state.answered)} ago.`
      : "";
    showTrouble(`The node does not answer: ${state.error}.${since} Asking again each second.`);
    byId("headline").textContent = "No answer from the node";
    document.title = "bitcoind: no answer";
    return;
  }
  showTrouble("");
  const booster = state.getboosterinfo || {}, chain = state.getblockchaininfo || {};
  const network = state.getnetworkinfo || {};
  const now = work(booster, chain);
  byId("chain").textContent = chain.chain ? `· ${chain.chain}` : "";
  byId("version").textContent = network.subversion || "";
  byId("headline").textContent = now.text;
  byId("figures").textContent = figures(booster, chain, now);
  byId("bar").firstElementChild.style.width = `${now.fraction * 100}%`;
  byId("bar").setAttribute("aria-valuenow", Math.round(now.fraction * 100));
  document.title = `${Math.round(now.fraction * 100)} % · bitcoind`;
  showSteps(booster);
  showTrust(booster);
  byId("memory").textContent = booster.memory ? `${bytesText(booster.memory)} used by the node` : "–";
  const disk = [`${bytesText(state.disk.free)} free of ${bytesText(state.disk.total)}`];
  if (booster.diskbytes) disk.push(`${bytesText(booster.diskbytes)} used by the sync now`);
  if (chain.size_on_disk) disk.push(`${bytesText(chain.size_on_disk)} of blocks`);
  byId("disk").textContent = disk.join(" · ");
  showPeers(state.peers || []);
  showWarnings(chain, network);
}

async function refresh() {
  const since = history.length ? history[history.length - 1].time : 0;
  try {
    const answer = await fetch(`state.json?since=${since}`);
    const state = await answer.json();
    history = history.concat(state.history || []).slice(-kHistorySeconds);
    show(state);
    plot("plot-bytes", "bytes", 1e6);
    plot("plot-outputs", "outputs", 1e3);
  } catch (error) {
    showTrouble(`dashboard.py does not answer: ${error.message}. Start it again; this page goes on.`);
  }
  setTimeout(refresh, 1000);
}

refresh();
