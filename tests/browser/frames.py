"""How fast the explorer draws while the pointer moves from token to token."""

SCRIPT = """
  const [frames] = arguments;
  const tokens = [...document.querySelectorAll('.token')];
  return new Promise((done) => {
    const times = [];
    let n = 0, last = performance.now();
    const step = (now) => {
      times.push(now - last);
      last = now;
      tokens[n % tokens.length].dispatchEvent(new PointerEvent('pointerenter'));
      if (++n < frames) requestAnimationFrame(step);
      else done(times.slice(10).sort((a, b) => a - b));
    };
    requestAnimationFrame(step);
  });"""


def times_while_hovering(browser, frames):
    """Marks one token after the other, one per frame. The times between frames in ms, sorted, without the first ten."""
    return browser.run(SCRIPT, frames)


def cpu_time_while_hovering(browser, frames):
    """The same, and the CPU time of the page's main thread for each frame in ms, whatever else the machine does."""
    browser.cdp("Performance.enable", timeDomain="threadTicks")
    busy = lambda: {each["name"]: each["value"] for each in browser.cdp("Performance.getMetrics")["metrics"]}["TaskDuration"]
    before = busy()
    times_while_hovering(browser, frames)
    spent = busy() - before
    browser.cdp("Performance.disable")
    return 1000 * spent / frames
