// The one WebSocket: reconnecting, pings, subscriptions, and commands sent again with their id until they are answered.
import { decode, encode } from "./vendor/msgpack/msgpack.js";

const subprotocol = "statecraft.v1.msgpack";
const tickMs = 200;
const pingMs = 1000;
/** An answer this late is trouble: with the time between pings it shows within three seconds. */
const patienceMs = 1600;
/** Silence after which a connection that looks open is given up. */
const silenceMsMax = 6000;
const backoffMsMax = 15_000;
/** Closes that a second try can't mend: the frame itself was wrong. */
const ours = [1003, 1009, 4000];

/**
 * @typedef {"connecting" | "live" | "trouble" | "broken"} State broken: only a newer page helps
 * @typedef {{type: string, [field: string]: any}} Message
 * @typedef {{after: () => [number, Uint8Array] | null, take: (message: Message) => void}} Feed
 * @typedef {{message: Message, answer: (message: Message) => void, tries: number}} Question
 */

export class Socket {
  /** @type {State} */
  state = "connecting";
  /** Whom the server takes us for; null: we may only watch. @type {string | null} */
  player = null;
  /** @type {WebSocket | null} */
  #wire = null;
  /** @type {Map<string, Question>} */
  #questions = new Map();
  /** @type {Map<string, Feed>} */
  #feeds = new Map();
  /** How far the server's clock is before ours, in milliseconds. */
  #aheadMs = 0;
  #greeted = false;
  #renewed = false;
  #tries = 0;
  #pings = 0;
  #pingedAt = 0;
  /** When the oldest ping without an answer went out. @type {number | null} */
  #askedAt = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #pause = undefined;

  /**
   * @param {string} url
   * @param {{changed: () => void, renew: () => Promise<unknown>}} on `renew`: the server knows no session of ours
   */
  constructor(url, on) {
    this.url = url;
    this.on = on;
    this.#connect();
    setInterval(() => this.#tick(), tickMs);
    addEventListener("online", () => this.#hurry());
    addEventListener("offline", () => this.#become("trouble"));
    addEventListener("pageshow", (event) => event.persisted && this.#hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#hurry());
  }

  /**
   * Sends a command until it is answered: after a lost connection again, with the same id, so that it happens once.
   * @param {Message & {id: string}} message
   * @returns {Promise<Message>} `met`, `done`, `queued`, `left`, `offered` or `refused`
   */
  ask(message) {
    return new Promise((answer) => {
      this.#questions.set(message.id, { message, answer, tries: 0 });
      this.#send(message);
    });
  }

  /** The time on the server's clock, in Unix milliseconds. */
  get nowMs() {
    return Date.now() + this.#aheadMs;
  }

  /** @param {string} topic @param {Feed} feed */
  subscribe(topic, feed) {
    this.#feeds.set(topic, feed);
    this.resume(topic);
  }

  /** Subscribes again from what the feed holds. @param {string} topic */
  resume(topic) {
    const feed = this.#feeds.get(topic);
    if (!feed) return;
    const after = feed.after();
    this.#send({ type: "subscribe", topic, ...(after ? { after } : {}) });
  }

  /** @param {string} topic */
  unsubscribe(topic) {
    if (this.#feeds.delete(topic)) this.#send({ type: "unsubscribe", topic });
  }

  #connect() {
    clearTimeout(this.#pause);
    const wire = new WebSocket(this.url, subprotocol);
    wire.binaryType = "arraybuffer";
    this.#wire = wire;
    this.#askedAt = Date.now();
    wire.onmessage = (event) => this.#wire === wire && this.#take(/** @type {Message} */ (decode(new Uint8Array(event.data))));
    wire.onclose = (event) => this.#wire === wire && this.#closed(event.code);
  }

  #lose() {
    const wire = this.#wire;
    this.#wire = null;
    this.#greeted = false;
    wire?.close();
  }

  /** @param {number} code */
  #closed(code) {
    this.#lose();
    if (ours.includes(code)) return this.#misunderstood();
    this.#become("trouble");
    this.#pause = setTimeout(() => this.#connect(), pauseMs(code, this.#tries++));
  }

  /** The same frames would close the next connection too: nothing that was asked is asked again. */
  #misunderstood() {
    for (const { message, answer } of this.#questions.values()) answer({ type: "refused", id: message.id, reason: "misunderstood" });
    this.#questions.clear();
    this.#become("broken");
  }

  /** @param {Message} message */
  #take(message) {
    this.#askedAt = null;
    if (message.type === "hello") return this.#hello(message);
    this.#become("live");
    if (message.topic) this.#feeds.get(message.topic)?.take(message);
    const question = message.id && this.#questions.get(message.id);
    if (!question) return;
    if (message.reason === "try_again") {
      setTimeout(() => this.#send(question.message), Math.min(8000, 250 * 2 ** question.tries++));
      return;
    }
    this.#questions.delete(message.id);
    question.answer(message);
  }

  /** @param {Message} hello */
  #hello(hello) {
    if (hello.player === null && !this.#renewed) {
      // A cookie the server no longer knows, or none: get one, then come again. Once; after that we watch.
      this.#renewed = true;
      this.#lose();
      this.on.renew().catch(() => null).then(() => this.#connect());
      return;
    }
    this.#renewed = hello.player === null;
    this.#aheadMs = hello.now_ms - Date.now();
    this.player = hello.player;
    this.#tries = 0;
    this.#greeted = true;
    for (const topic of this.#feeds.keys()) this.resume(topic);
    for (const { message } of this.#questions.values()) this.#send(message);
    this.#become("live");
  }

  /** @param {Message} message */
  #send(message) {
    // Before hello nothing is sent: it would be sent again then.
    if (this.#greeted && this.#wire?.readyState === WebSocket.OPEN) this.#wire.send(encode(message));
  }

  #tick() {
    const now = Date.now();
    if (this.state === "broken" || !this.#wire) return;
    if (this.#greeted && now - this.#pingedAt >= pingMs) this.#ping(now);
    if (this.#askedAt === null) return;
    if (now - this.#askedAt > patienceMs) this.#become("trouble");
    if (now - this.#askedAt > silenceMsMax) this.#closed(1006);
  }

  /** @param {number} now */
  #ping(now) {
    this.#pingedAt = now;
    this.#askedAt ??= now;
    this.#send({ type: "ping", n: ++this.#pings });
  }

  /** The network is back, or somebody looks again: don't sit out the pause. */
  #hurry() {
    if (this.state === "broken") return;
    this.#tries = Math.min(this.#tries, 1);
    if (!this.#wire) this.#connect();
    else if (this.#greeted) this.#ping(Date.now());
  }

  /** @param {State} state */
  #become(state) {
    if (this.state === state) return;
    this.state = state;
    this.on.changed();
  }
}

/**
 * How long to wait before the next try: with jitter, so that a restarted server isn't met by everybody at once.
 * @param {number} code of the close
 * @param {number} tries that failed before
 */
export function pauseMs(code, tries) {
  if (code === 4003) return 1000 + 1000 * Math.random();
  if (code === 1001 || code === 1012) return 1000 * Math.random();
  return Math.min(backoffMsMax, 400 * 2 ** tries) * (0.5 + 0.5 * Math.random());
}

/** A new id for a command. @returns {string} */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
