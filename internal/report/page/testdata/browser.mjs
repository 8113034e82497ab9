// Looks at a page as a person does: node browser.mjs PAGE FOLDER CHROMIUM [HOW-OFTEN]. It prints what it found as JSON; screenshots go into the folder.
// The modules come from NODE_MODULES. Of a page with many links some are followed.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [page, folder, chromium, often] = process.argv.slice(2);
const require = createRequire(join(process.env.NODE_MODULES, "x.js"));
const { chromium: engine } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await engine.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const found = [];
for (const [width, height, colorScheme] of [[1280, 900, "light"], [1280, 900, "dark"], [390, 800, "light"]].slice(0, Number(often || 3))) {
  const tab = await browser.newPage({ viewport: { width, height }, colorScheme });
  const at = { width, colorScheme, errors: [], requests: [], violations: [], broken: [], unreached: [] };
  found.push(at);
  tab.on("console", (m) => { if (["error", "warning"].includes(m.type())) at.errors.push(m.text()); });
  tab.on("pageerror", (e) => at.errors.push(String(e)));
  tab.on("dialog", (d) => { at.errors.push("dialog: " + d.message()); d.dismiss(); });
  const address = pathToFileURL(page).href;
  tab.on("request", (r) => { if (r.url().split("#")[0] !== address && !r.url().startsWith("data:")) at.requests.push(r.url()); });
  await tab.goto(address);
  at.opened = await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(Math.round(performance.now()))))));
  await tab.screenshot({ path: join(folder, `${width}-${colorScheme}.png`) });
  at.overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  // Every element that the Tab key should reach, it does.
  const count = await tab.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], summary, button, input, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.hidden);
    all.forEach((e, i) => { e.tabNumber = i; });
    return all.length;
  });
  const seen = new Set();
  for (let i = 0; i < (count < 200 ? count + 20 : 30) && seen.size < count; i++) {
    await tab.keyboard.press("Tab");
    const n = await tab.evaluate(() => document.activeElement && document.activeElement.tabNumber);
    if (n !== undefined && n !== null) seen.add(n);
  }
  at.tabs = count;
  if (count < 200) at.unreached = await tab.evaluate((seen) => [...document.querySelectorAll("*")].filter((e) => e.tabNumber !== undefined && !seen.includes(e.tabNumber)).map((e) => e.outerHTML.slice(0, 100)), [...seen]);

  // A step is opened by the keyboard, and shows its actions.
  const summary = tab.locator("details.step:has(.actions) summary").first();
  if (await summary.count()) {
    await summary.focus();
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => document.querySelector("details.step[open]"));
    await tab.evaluate(() => [...document.querySelectorAll("details.step")].slice(0, 20).forEach((d) => { d.open = true; }));
    await tab.evaluate(() => new Promise((done) => setTimeout(done, 100))); // the event comes a moment later
    at.actions = await tab.locator(".actions tbody tr").count();
  }

  // Every link leads to something that is there, and is seen then; one to a step opens it and goes to its line, which comes a moment after
  // the address has changed: a key pressed before would go there too.
  const links = await tab.locator("a[href]:visible").all();
  const every = Math.ceil(links.length / 30);
  for (const link of links.filter((_, i) => i % every === 0)) {
    const href = await link.getAttribute("href");
    await link.focus();
    await tab.keyboard.press("Enter");
    const well = await tab.waitForFunction((href) => {
      const to = document.getElementById(href.slice(1));
      if (!to || location.hash !== href) return false;
      const box = to.getBoundingClientRect();
      return box.bottom >= 0 && box.top <= innerHeight && (to.tagName !== "DETAILS" || (to.open && document.activeElement === to.querySelector("summary")));
    }, href, { timeout: 10000 }).then(() => true, () => false);
    if (!well) at.broken.push(href);
  }

  // A step that is not listed yet is found, and the rest is shown on demand.
  const find = tab.locator("#find");
  if (await find.count()) {
    const name = await tab.evaluate(() => JSON.parse(document.getElementById("data").textContent).steps.at(-1).name);
    await find.fill(name);
    at.visible = await tab.locator("details.step:visible").count();
    at.found = await tab.locator("#found").textContent();
    await find.fill("");
  }
  const more = tab.locator("#more:visible");
  if (await more.count()) {
    const had = await tab.locator("details.step").count();
    await more.click();
    at.more = (await tab.locator("details.step").count()) - had;
  }

  await tab.evaluate(axe);
  const result = await tab.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  at.violations = result.violations.filter((v) => ["serious", "critical", "moderate"].includes(v.impact)).map((v) => `${v.impact} ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  at.passes = result.passes.length;
  await tab.screenshot({ path: join(folder, `${width}-${colorScheme}-whole.png`), fullPage: true });
  await tab.close();
}
await browser.close();
console.log(JSON.stringify(found));
