// Every reason for which a command is refused (docs/protocol.md, Reasons), in words for the player; the last one is our own.

/** @type {Readonly<Record<string, string>>} */
const sentences = {
  not_seated: "You don’t sit in this game, so you can only watch it.",
  already_open: "This game is open already.",
  already_mixed: "Your chance is in the deal already.",
  already_committed: "You have committed a card for this match already.",
  already_revealed: "You have shown your card for this match already.",
  not_open: "This game isn’t open yet. Wait a moment.",
  not_dealt: "The cards aren’t dealt yet. Wait a moment.",
  no_seal: "Your rival hasn’t sealed a card yet. Wait a moment.",
  over: "This game is over.",
  not_both_seated: "Not everybody sits yet. Wait a moment.",
  already_seated: "You sit in this game already.",
  seat_taken: "Somebody else has this seat. You can watch.",
  already_playing: "You have an unfinished game of this kind that counts. Finish it first.",
  too_many_games: "You have invited to many games already. Finish some, or take invitations back.",
  not_over: "This game isn’t over yet.",
  bad_entropy: "Your browser sent no proper chance for the deal. Load the page again.",
  wrong_battle: "That match is played already, perhaps in another tab. This is the next one.",
  no_such_card: "There is no such card. Choose one from your hand.",
  not_your_card: "That card isn’t yours. Choose one from your hand.",
  card_gone: "That card left your hand earlier. Choose another one.",
  captured_this_round: "You captured that card in this round and may play it from the next one on. Choose another.",
  already_readied: "You have agreed to that battle already. Wait a moment.",
  bad_times: "So many battles can’t be turned at once here.",
  open_deal: "This deal follows from its seed and takes no chance of yours.",
  bad_seed: "A seed is a whole number from 0 to 4294967295, in plain digits.",
  seal_mismatch: "That card doesn’t open the seal you committed.",
  wrong_opponent: "That isn’t how this kind of game is played. Load the page again.",
  unknown_mode: "The server doesn’t know this difficulty.",
  unknown_rules: "The server doesn’t know these rules.",
  unknown_setting: "The server doesn’t know one of the settings.",
  unknown_command: "The server didn’t understand that. Load the page again.",
  unknown_topic: "The server has nothing of that name.",
  unknown_game: "There is no such game here.",
  not_due: "Time isn’t up.",
  no_session: "This browser only watches: it has no session with the server. Allow cookies for this address and load the page again.",
  too_many_subscriptions: "This page watches too many things at once. Load it again.",
  damaged: "The stored record of this game is damaged, so it is not continued. It costs you nothing: start a new game.",
  try_again: "The server is busy. Trying again …",
  misunderstood: "The server didn’t understand this page, and nothing was played. Load the page again.",
};

/** @param {string} reason @returns {string} */
export function inWords(reason) {
  return sentences[reason] ?? `The server declined: ${reason}.`;
}
