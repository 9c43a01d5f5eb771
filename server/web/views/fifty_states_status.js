// What the table of the Game of 50 States says of the moment: one sentence under the cards, a shorter one over the hand.
import { spokenCard } from "./cards.js";
import { outcome, possessive, sentence } from "./fifty_states_words.js";

/** @typedef {import("./fifty_states.js").Look} Look */
/** @typedef {import("./opponent.js").Names} Names */

/** @param {Look} look @param {Names} names */
export function status(look, names) {
  const { position, last, all, seat, short, held, pending, over } = look;
  const told = last ? sentence(outcome(last, seat, names)) : "";
  if (over) return told || "No card was played.";
  if (!position && look.replayed) return "The cards are not dealt yet.";
  if (look.people) return between(look, told);
  if (!position) return "The cards are being shuffled, with your browser’s own chance mixed in.";
  if (pending?.command.do === "Resign") return "You are resigning …";
  if (pending) return `Your ${spokenCard(pending.command.card)}, is on its way …`;
  if (held !== null) return `You hold out ${spokenCard(held)}. Confirm to play it against ${possessive(short)} sealed card.`;
  if (last?.endsRound) return `${told} Round ${last.round} is over: captured cards join the hands.`;
  if (told) return told;
  if (seat === null) return `${short} has sealed a card.`;
  return all.length ? `${short} has sealed the next card. Choose yours.` : `${short} has sealed a card already and can’t change it. Choose yours.`;
}

/** Between people. @param {Look} look @param {string} told */
function between({ position, last, seat, me, short, held, sealed, pending, table, mine }, told) {
  if (!position) return mixing(table, seat);
  if (pending?.command.do === "Resign") return "You are resigning …";
  const other = position.seals[1 - me] !== null;
  if (pending) return `Your ${spokenCard(pending.command.card)}, is being sealed …`;
  if (seat !== null && position.seals[me] !== null) {
    const card = sealed === null ? "Your card" : sentence(spokenCard(sealed));
    return other ? `Both cards are sealed, and are being shown …` : `${card}${sealed === null ? "" : ","} lies sealed. It is shown by itself once ${short} has sealed a card.`;
  }
  if (held !== null) return `You hold out ${spokenCard(held)}. Seal it: nobody sees it before both cards are sealed.`;
  if (seat === null && other && position.seals[me] !== null) return "Both cards are sealed, and are being shown …";
  if (seat === null && other !== (position.seals[me] !== null)) return `${sentence(other ? short : mine)} has sealed a card.`;
  const end = last?.endsRound ? ` Round ${last.round} is over: captured cards join the hands.` : "";
  if (told) return `${told}${end}`;
  if (seat === null) return "Both are choosing a card.";
  return other ? `${sentence(short)} has sealed a card. Choose yours.` : "Choose a card and seal it. Nobody sees it before both cards are sealed.";
}

/** @param {any} table @param {number | null} seat */
function mixing(table, seat) {
  if (seat !== null && table.mixed[seat] !== null) return "Your chance is in. The cards are shuffled as soon as your opponent’s is.";
  return "The cards are being shuffled, with both players’ chance mixed in.";
}

/** @param {Look} look */
export function hint({ held, pending, short, position, last, people, sealed, me }) {
  if (people) return sealed !== null || position.seals[me] !== null ? "Sealed. It can’t be changed now." : held !== null ? "Choose another, or seal it." : "";
  if (pending || (held === null && !last)) return "";
  if (held !== null) return "Choose another, or confirm.";
  return position.round === 1 ? `${short} has sealed the next card. Choose yours.` : `${short} has sealed one of the cards above. Choose yours.`;
}

