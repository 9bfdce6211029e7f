// Assembles the page: distributes snapshots to all parts, and sends actions to the table.

import { Awake } from "./awake.js";
import { CameraView } from "./camera.js";
import { openMore, showControls, showQuestion } from "./controls.js";
import { Desk } from "./desk.js";
import { byId, foreign, keep, make, write } from "./dom.js";
import { Hands } from "./hands.js";
import { showLanguages } from "./languages.js";
import { listenToKeys, showLayout } from "./layout.js";
import { follow, Link } from "./link.js";
import { showLobby } from "./lobby.js";
import { registerPairing } from "./pairing.js";
import { showScores } from "./scores.js";
import { openTilesOut } from "./tiles_out.js";
import { fillIn, language, later, locale, say } from "./say.js";
import { fetchAhead, registerSeldom } from "./seldom.js";
import { watchLetters } from "./letters.js";
import { listenToSheets } from "./sheet.js";
import { Sound } from "./sound.js";
import { Toast } from "./toast.js";
import { followAddress, tellShown, view } from "./views.js";
import { Voice } from "./voice.js";
import { Zoom } from "./zoom.js";

const LINKS = { [Link.OPENING]: later("Connecting"), [Link.LIVE]: later("Live"), [Link.LOST]: later("Not connected") };
const TABS = { "layout-tab": "layout-view", "camera-tab": "camera-view" };

/** Open the sheet of a play or player. Both are fetched ahead, but not part of the first load. */
const openPlay = (seq, snapshot, desk) => opened(import("./play_sheet.js"), (sheet) => sheet.openPlay(seq, snapshot, desk), desk);
const openSeat = (seat, snapshot, desk) => opened(import("./seat_sheet.js"), (sheet) => sheet.openSeat(seat, snapshot, desk), desk);

function opened(loading, open, desk) {
  return loading.then(open).catch(() => desk.toast.failed(say("The table cannot be reached.")));
}

class Page {
  constructor() {
    // A television has no controls, so nothing can be tapped by mistake.
    const options = new URLSearchParams(location.search);
    this.isDisplay = options.has("display") || options.has("overlay");
    document.documentElement.dataset.mode = this.isDisplay ? "display" : "page";
    document.documentElement.toggleAttribute("data-light", this.isDisplay && options.has("light"));
    document.documentElement.toggleAttribute("data-overlay", options.has("overlay"));
    document.documentElement.dataset.link = Link.OPENING;
    this.snapshot = null;
    this.link = Link.OPENING;
    fillIn(document);
    watchLetters();
    this.camera = new CameraView(() => this.link === Link.LIVE);
    this.voice = new Voice();
    this.sound = new Sound(options.has("sound"));
    this.awake = new Awake(this.isDisplay);
    this.zoom = this.isDisplay ? new Zoom() : null;
    this.television = null;
    this.coach = null;
    if (options.has("coach")) import("./coach.js").then(({ Coach }) => this.beside(new Coach()), () => {});
    this.toast = this.isDisplay ? null : new Toast();
    this.desk = this.isDisplay ? null : new Desk(this.toast, () => this.snapshot, () => this.snapshot && showControls(this.snapshot, this.desk));
    this.hands = this.isDisplay ? null : new Hands((seq, snapshot) => openPlay(seq, snapshot, this.desk), this.desk);
    if (!this.isDisplay) this.listen();
    // Redraw elements with a minimum screen size after a resize, or when they become visible.
    const drawAnew = () => this.snapshot && showLayout(this.snapshot, this.tapped(openPlay), this.zoom);
    window.addEventListener("resize", drawAnew);
    view("table", { title: () => say("Table"), show: drawAnew });
    if (!this.isDisplay) {
      registerSeldom(this.toast, () => this.snapshot);
      registerPairing(this.toast);
    }
    followAddress();
    follow((snapshot) => this.show(snapshot), (link) => this.turn(link));
  }

  listen() {
    showLanguages();
    listenToSheets();
    listenToKeys();
    byId("still-out").addEventListener("click", () => this.snapshot && openTilesOut(this.snapshot));
    byId("all-right").addEventListener("click", () => this.desk.act({ type: "confirm" }, say("All plays are confirmed.")));
    byId("more").addEventListener("click", () => this.snapshot && openMore(this.snapshot, this.desk));
    for (const tab of Object.keys(TABS)) byId(tab).addEventListener("click", () => this.openTab(tab));
  }

  openTab(tab) {
    for (const [other, view] of Object.entries(TABS)) {
      byId(other).setAttribute("aria-pressed", String(other === tab));
      byId(view).hidden = other !== tab;
    }
    this.camera.open(tab === "camera-tab");
  }

  show(snapshot) {
    // A match begins with its layout; the camera picture was of use before it.
    const begins = this.snapshot?.match.phase === "lobby" && snapshot.match.phase !== "lobby";
    if (begins && !this.isDisplay) this.openTab("layout-tab");
    this.snapshot = snapshot;
    document.documentElement.dataset.shown = ""; // the embedded snapshot is readable before the connection is open
    showScores(snapshot, this.tapped(openSeat));
    showQuestion(snapshot, this.desk);
    showLayout(snapshot, this.tapped(openPlay), this.zoom);
    showLobby(snapshot);
    this.television?.show(snapshot);
    this.coach?.show(snapshot);
    if (!this.isDisplay) {
      tellShown(snapshot);
      this.hands.show(snapshot);
      this.showUnseenHands(snapshot);
      this.desk.follow(snapshot);
      showControls(snapshot, this.desk);
      this.camera.show(snapshot);
    }
    const problems = snapshot.problems ?? [];
    byId("problems").hidden = problems.length === 0;
    keep(byId("problem-list"), problems, (text) => text, (text) => make("li", {}, foreign(text)));
    const said = [snapshot.last?.text, snapshot.question?.text ?? snapshot.waits_for].filter(Boolean).join(". ");
    write(byId("announcer"), said);
    this.voice.tell(snapshot);
    this.sound.tell(snapshot);
    this.awake.show(snapshot);
  }

  /** Ask for the pips left in hands that nobody saw. Rarely needed, so loaded on demand. */
  async showUnseenHands(snapshot) {
    byId("unseen-hands").hidden = !snapshot.unseen_hands?.length;
    if (snapshot.unseen_hands?.length) (await import("./unseen_hands.js").catch(() => null))?.showUnseenHands(snapshot, this.desk);
  }

  /** Show the coach, which is loaded on demand. */
  beside(coach) {
    this.coach = coach;
    if (this.snapshot !== null) coach.show(this.snapshot);
  }

  /** Return a tap handler, or null on a television. */
  tapped(does) {
    return this.isDisplay ? null : (which) => does(which, this.snapshot, this.desk);
  }

  turn(link) {
    this.link = link;
    document.documentElement.dataset.link = link;
    write(byId("link"), say(LINKS[link]));
    const isLost = link === Link.LOST;
    byId("lost").hidden = !isLost;
    write(byId("lost"), isLost ? say("No connection to the table since {time}. This page may be out of date. Reconnecting.", { time: timeNow() }) : "");
    byId("controls").inert = link !== Link.LIVE;
    if (link !== Link.LIVE) return;
    if (this.isDisplay) this.completeDisplay();
    else fetchAhead();
  }

  async completeDisplay() {
    const loaded = await import("./television.js").catch(() => null); // retried with the next connection
    if (loaded === null || this.television !== null) return;
    this.television = new loaded.Television();
    if (this.snapshot !== null) this.television.show(this.snapshot);
  }
}

function timeNow() {
  return new Date().toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

new Page();
