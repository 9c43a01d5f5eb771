// Draws a player's page with everything on it that years of playing can bring: what no test could play in time.
async () => {
  const { draw } = await import("/views/player.js");
  const { render } = await import("/vendor/lit/lit-html.js");
  const ladders = [["states-relaxed", "bronze", 12], ["states-strategic", "silver", 9], ["states-versus", "gold", 1], ["classic-versus", null, 0]];
  const record = {
    player: "f5c23659cf80bc1bab704f4c6793843d",
    name: "Ada Lovelace",
    as_of: 123456,
    ladders: ladders.map(([ladder, colour, flags]) => ({
      ladder, colour, stars: 999, trophies: { stars: 9, medals: 9, shields: 9, flags }, games: 20000, wins: 12300, draws: 3, win_rate: 615000,
      streak: 4, best_streak: 31,
      streak_badge: { milestone: 25, index: 444, at_ms: 1780000000000 },
      win_rate_badge: { milestone: 100, index: 445, at_ms: 1781000000000 },
      imported: { games: 40, wins: 21, draws: 1, stars: colour === "bronze" ? 45 : 0 },
    })),
    rivals: [{ ladder: "states-relaxed", rival: "opal-winterbourne", games: 40, wins: 20, win_rate: 500000, imported: { games: 12, wins: 3 } }],
    luck: [{ ladder: "classic-house", games: 12, wins: 5, draws: 1 }],
    ranks: [{ ladder: "states-versus", measure: "rating", rank: 23, position: 22, value: 151234, index: 44, size: 800 }],
  };
  const main = document.createElement("main");
  document.getElementById("main").replaceWith(main);
  render(draw({ record, games: [], cursor: null, own: true, friend: false, why: null, settings: { busy: false, refusal: null, told: null } }, { older() {}, befriend() {} }), main);
};
