const GATEWAY = "@GATEWAY@";

/** Where calls go, by whose rights, and how long an answer is waited for. */
export interface Configuration {
  gateway?: string;
  /** If it is not given: what the variable PEGBOARD_TOKEN says. */
  token?: string;
  /** For one call; 600 if nothing is said. */
  timeoutSeconds?: number;
}

/** Everything that came back from a call. */
export interface CallResult {
  id?: string;
  outcome: string;
  text?: string;
  structured?: { [key: string]: unknown } | null;
  content?: { [key: string]: unknown }[];
  artifacts?: { [key: string]: unknown }[];
  error?: string;
  logs?: string;
  seconds?: number;
  version?: string;
  sandbox?: string | null;
}

/** A call that did not end well, or was not made. */
export class ToolError extends Error {
  /** A stable name for what went wrong, such as `invalid_arguments` or `item_not_found`. */
  readonly code: string;
  /** How the call ended, such as `failed` or `timeout`; empty if there was none. */
  readonly outcome: string;
  /** What to do about it. */
  readonly hint: string;
  /** The status of the gateway's answer; 0 if none came. */
  readonly status: number;
  /** All that came back, if the tool was run. */
  readonly result: CallResult | undefined;

  constructor(
    message: string,
    facts: { code: string; outcome?: string; hint?: string; status?: number; result?: CallResult },
  ) {
    super(message);
    this.name = "ToolError";
    this.code = facts.code;
    this.outcome = facts.outcome ?? "";
    this.hint = facts.hint ?? "";
    this.status = facts.status ?? 0;
    this.result = facts.result;
  }
}

/** A person has to say yes first. Nothing has been run. */
export class ApprovalNeeded extends ToolError {
  /** What the person is to be asked. */
  readonly question: string;
  /** Makes the very call that was asked about; the token must be one that may approve. */
  readonly approve: () => Promise<unknown>;

  constructor(message: string, hint: string, question: string, approve: () => Promise<unknown>) {
    super(message, { code: "approval_needed", outcome: "denied", hint, status: 409 });
    this.name = "ApprovalNeeded";
    this.question = question;
    this.approve = approve;
  }
}

let configured: Configuration = {};

/** Say where calls go and with which token; what is not given stays as it is. */
export function configure(said: Configuration): void {
  configured = { ...configured, ...said };
}

/** Call any tool by its id, and get all that comes back. Throws `ToolError` if it was not run. */
export async function callTool(id: string, args: object = {}): Promise<CallResult> {
  return run(encodeURIComponent(id), args, true);
}

interface Answer {
  readonly status: number;
  text(): Promise<string>;
}

interface Platform {
  fetch(address: string, request: object): Promise<Answer>;
  readonly AbortSignal: { timeout(milliseconds: number): unknown };
  readonly process?: { readonly env?: { readonly [name: string]: string | undefined } };
}

const platform = globalThis as unknown as Platform;
const OUTCOMES = ["invalid_arguments", "denied", "timeout", "killed", "failed", "unavailable"];

async function run(path: string, args: object, unwraps: boolean, mark?: string): Promise<CallResult> {
  const answer = await send(path, mark === undefined ? { arguments: args } : { arguments: args, approve: mark });
  const text = await answer.text().catch((error: unknown) => { throw unreachable(error); });
  const said = parsed(text);
  if (answer.status === 200 && typeof said?.["outcome"] === "string") {
    return said as unknown as CallResult;
  }
  const code = word(said, "code") || "bad_answer";
  const message = word(said, "detail") || `the gateway answered with status ${answer.status} and no reason`;
  const hint = word(said, "hint");
  if (code === "approval_needed") {
    const again = word(said, "mark");
    throw new ApprovalNeeded(message, hint, word(said, "question") || message, () =>
      run(path, args, unwraps, again).then((result) => valueOf(result, unwraps)));
  }
  const outcome = OUTCOMES.includes(code) ? code : "";
  throw new ToolError(message, { code, outcome, hint, status: answer.status });
}

async function send(path: string, body: object): Promise<Answer> {
  const token = (configured.token ?? platform.process?.env?.["PEGBOARD_TOKEN"])?.trim();
  const gateway = (configured.gateway ?? GATEWAY).replace(/\/+$/, "");
  const headers: { [name: string]: string } = { "content-type": "application/json", accept: "application/json" };
  if (token) {
    headers["authorization"] = `Bearer ${token}`;
  }
  try {
    return await platform.fetch(`${gateway}/tools/${path}/call`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      redirect: "manual", // a token is for this gateway alone
      signal: platform.AbortSignal.timeout((configured.timeoutSeconds ?? 600) * 1000),
    });
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(error: unknown): ToolError {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { message?: string } };
  const late = name === "TimeoutError";
  const code = late ? "took_too_long" : "gateway_unreachable";
  const why = [message, cause?.message].filter(Boolean).join(": ");
  return new ToolError(why, { code, hint: late ? "configure({ timeoutSeconds }) gives it more time" : "is it running? pegboard serve" });
}

function parsed(text: string): { [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as { [key: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}

function word(said: { [key: string]: unknown } | undefined, name: string): string {
  const value = said?.[name];
  return typeof value === "string" ? value : "";
}

/** What the tool gave: its structured result; else its text; else whatever content it has. */
function valueOf(result: CallResult, unwraps: boolean): unknown {
  const content = result.content ?? [];
  const texts = content.filter((block) => block["type"] === "text").map((block) => String(block["text"] ?? ""));
  if (result.outcome !== "ok") {
    const message = result.error || texts.join("\n") || `the call ended as ${result.outcome}`;
    throw new ToolError(message, { code: result.outcome, outcome: result.outcome, status: 200, result });
  }
  const found = result.structured;
  if (found !== null && found !== undefined) {
    const names = Object.keys(found);
    return unwraps && names.length === 1 && names[0] === "result" ? found["result"] : found;
  }
  if (texts.length === content.length) {
    return texts.length > 0 ? texts.join("\n") : null;
  }
  return content;
}

async function call<T>(path: string, args: object, unwraps: boolean): Promise<T> {
  return valueOf(await run(path, args, unwraps), unwraps) as T;
}
