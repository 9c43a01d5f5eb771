// How the Game of 50 States is played, in the players' words.
import { html } from "../vendor/lit/lit-html.js";
import { face } from "./cards.js";

export const how = () => html`
  <p class="lead">Fifty cards, one for each state of the Union, numbered in the order they joined it: Delaware is 1, Hawaii is 50. The higher number wins, and every number is there once, so nothing ties.</p>
  <div class="example" aria-hidden="true">${face(1)}${face(22)}${face(50)}</div>
  <ol class="rules">
    <li><h2>Seven cards each</h2><p>You and your rival get seven cards. The other thirty-six sit this game out. Hands are secret, and a card stays secret until it is played.</p></li>
    <li><h2>One match, two cards</h2><p>Your rival seals a card first and can’t change it any more. Then you choose yours and confirm. Both are turned over, and the higher number wins the match.</p></li>
    <li><h2>The winner leaves, the loser changes sides</h2><p>The winning card has done its work and leaves the game. Its owner captures the lower card, and may play it from the next round on, not in this one.</p></li>
    <li><h2>Rounds</h2><p>A round ends when either hand is empty. Unplayed cards stay with their owner, captured cards join them, and the next round begins. From round two on every card has been shown, so both hands lie open: from here it is all in the choosing.</p></li>
    <li><h2>Winning</h2><p>Whoever has no cards at all when a round is over is out, and the other side wins. There are no draws. A game takes seven to thirteen matches.</p></li>
  </ol>
  <h2>Your rival</h2>
  <p>One of sixteen stewards of the cards, drawn at random before you sit down. Whoever it is, it never sees your hand or your choice: its card is sealed in the record of the game before you can choose, and round one is pure chance in both difficulties.</p>
  <dl class="levels">
    <div><dt>Relaxed <span class="ladder bronze">Bronze</span></dt><dd>Plays any card it holds, at random, in every round.</dd></div>
    <div><dt>Strategic <span class="ladder silver">Silver</span></dt><dd>From round two on it plays the exact best mix of cards for the position, from a published table. Nobody beats it more than half the time in the long run, but it can be met as an equal.</dd></div>
  </dl>
  <h2>Unfinished games</h2>
  <p>You have one unfinished game in each difficulty, and it waits for you for seven days. Starting over is resigning: it counts as a loss. After seven days the side to move loses.</p>
  <h2>Nothing to win but the game</h2>
  <p>It is played for its own sake: no money, no prizes, nothing to buy. After each game, <em>How fair was this?</em> checks every card of it, and <em>Review</em> shows what each choice was worth.</p>
`;
