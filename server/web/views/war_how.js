// How War is played, in the players' words.
import { html } from "../vendor/lit/lit-html.js";
import { back } from "./cards.js";
import { face } from "./playing_cards.js";

export const how = () => html`
  <p class="lead">Fifty-two cards, twenty-six to each side, face down. Nobody looks and nobody chooses: both turn their top card, and the higher one takes all that lies on the table. Aces are high, suits mean nothing. It is luck.</p>
  <div class="example war-example" aria-hidden="true">${face(20)}${back()}${back()}${back()}${face(3)}</div>
  <ol class="rules">
    <li><h2>A battle</h2><p>Both turn the top card of their pile. The higher rank takes both cards, and they go under the winner’s pile.</p></li>
    <li><h2>A war</h2><p>Equal ranks are a war. Both lay cards face down and turn one more; whoever’s is higher takes everything. If those tie too, it is a war again, and all cards stay where they are.</p></li>
    <li><h2>The end</h2><p>Whoever has all fifty-two cards wins. Where a side has too few cards left for a war, the rules below say what happens.</p></li>
  </ol>
  <h2>Three sets of rules</h2>
  <dl class="levels">
    <div><dt>Playbook War</dt><dd>One card face down in a war. Won cards go back winner’s first, then loser’s, as they were played. A war takes two cards: whoever has fewer than that and fewer than the other loses; if both are short alike, it is a draw. After 500 battles it is a draw, whatever the piles say. You may turn ten battles at once.</dd></div>
    <div><dt>Gameweave War</dt><dd>Three cards face down in a war. Won cards go back in random order, drawn from the game’s own seed, so that no deal can go round in a circle. Short of cards, a side lays what it has, and whoever has none left to turn loses. There is no limit.</dd></div>
    <div><dt>Classic War</dt><dd>Three cards face down, or one if you set it so. Won cards go back as in Playbook. Short of cards, a side lays as many as it can and keeps one to turn; with none at all when a war begins, it loses. A full game ends after battle 5,000 at the latest, a short one after battle 100, and then more cards win.</dd></div>
  </dl>
  <h2>How long it takes</h2>
  <p>Five thousand deals of each, played out by the same rules: the long tail is the game’s charm, or its price.</p>
  <div class="lengths">
    <img src="art/lengths-classic.svg" width="760" height="400" loading="lazy" alt="Classic War: half of the games are over within about 147 battles, the longest of these took 1,540.">
    <img src="art/lengths-playbook.svg" width="760" height="400" loading="lazy" alt="Playbook War: half of the games are over within about 218 battles; one in seven is drawn at battle 500.">
    <img src="art/lengths-gameweave.svg" width="760" height="400" loading="lazy" alt="Gameweave War: half of the games are over within about 179 battles, the longest of these took 1,740.">
  </div>
  <h2>Open deals</h2>
  <p>Put <span class="nobreak">?seed=123</span> into the address of this site, with any whole number up to 4294967295, and Classic War deals the cards of that number, the same for everybody. Such a game can be played again and counts nowhere. New game leaves it.</p>
  <h2>Keys</h2>
  <p>Space or Enter turns, A starts and stops auto-play, N begins a new game, F fills the screen, Esc closes the result. They work where no button has the focus.</p>
  <h2>What counts</h2>
  <p>Against the computer your page counts games, wins and draws. There are no stars, no rivals and no boards, because there is nothing to be good at. You may leave a game whenever you like: it then counts nowhere. After each game, <em>How fair was this?</em> checks the deal and every card that was turned.</p>
`;
