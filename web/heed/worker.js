// The worker of host.js: does one call after the other.
import {createCalls} from "./calls.js";

const call = createCalls();

addEventListener("message", async ({data: {number, fields}}) => {
  try {
    postMessage({number, answer: await call(fields)});
  } catch (error) {
    postMessage({number, error: error instanceof Error ? error.message : String(error)});
  }
});
