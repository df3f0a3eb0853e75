// The JavaScript side of a skill script: its functions, loading its source, and reporting its errors.
// A skill can modify everything here, but only for itself: nothing outlives one call.
import { call } from 'forge:skill/host@1.0.0';

const { parse, stringify } = JSON;
const { assign } = Object;
const evaluate = eval; // called by another name, it evaluates in the global scope
const global = globalThis;
const MAX_TEXT = 8000;
const RANDOM_AT_ONCE = 256;
const ABOUT_ITSELF = /\b(?:context|settings)\b/; // fetched only if the source mentions them
const ASYNCHRONOUS =
  'run is asynchronous, but skills are synchronous: every call returns its result. Remove async, await and promises.';

let reserve = new ArrayBuffer(1 << 18); // freed when memory runs out, so that the error can still be reported

class HostError extends Error {
  get name() {
    return 'HostError';
  }
}

function ask(op, args) {
  let reply;
  try {
    reply = call(op, stringify(args));
  } catch (error) {
    throw new HostError(typeof error?.payload === 'string' ? error.payload : `${error?.message ?? error}`);
  }
  return parse(reply);
}

// ---- functions for skills

function fetch(url, { method = 'GET', headers = {}, body = null } = {}) {
  const reply = ask('http', { method: `${method}`.toUpperCase(), url: `${url}`, headers, body });
  return {
    status: reply.status,
    ok: reply.status >= 200 && reply.status < 300,
    headers: reply.headers,
    text: () => reply.body,
    json: () => parse(reply.body),
  };
}

const kv = {
  get: (key) => ask('kv.get', { key }),
  set: (key, value) => ask('kv.set', { key, value: value ?? null }),
  delete: (key) => ask('kv.delete', { key }),
  keys: (prefix = '') => ask('kv.keys', { prefix }),
};
const secrets = { get: (name) => ask('secret', { name }) };
const env = { get: (name) => ask('env', { name }) };
const memory = { recall: (query, limit = 5) => ask('memory', { query, limit }) };
const files = {
  read: (path) => ask('file.read', { path }),
  write: (path, text) => ask('file.write', { path, text }),
  list: (path = '.') => ask('file.list', { path }),
};
const exec = (argv, input = '') => ask('exec', { argv, input });

function shown(value) {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

const logger =
  (level) =>
  (...values) => {
    ask('log', { level, message: values.map(shown).join(' ') });
  };
const console = {
  log: logger('info'),
  info: logger('info'),
  debug: logger('debug'),
  warn: logger('warn'),
  error: logger('error'),
};

// The state of the engine's own generator is part of the snapshot: every call would return the same numbers.
let drawn = [];
function random() {
  if (drawn.length === 0) drawn = ask('random', { count: RANDOM_AT_ONCE });
  return drawn.pop() / 4294967296;
}

const crypto = {
  getRandomValues(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random() * 256;
    return array;
  },
  randomUUID() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  },
};

assign(global, { fetch, kv, secrets, env, memory, files, exec, console, crypto, HostError });
Math.random = random;

// ---- from source to `run`

// A single file needs nothing of a module but `export`, so `export` is removed at line starts. Lines stay where they are.
const EXPORT = /^([ \t]*)export[ \t]+/m;
const EXPORTED_NAMES = /^([ \t]*)export[ \t]*\{([^}]*)\}[ \t]*;?/gm;
const DEFAULT = /^([ \t]*)export[ \t]+default[ \t]+/gm;
const DECLARED = /^([ \t]*)export[ \t]+(?=(?:async|function|const|let|var|class)\b)/gm;

function withoutExports(source) {
  return source
    .replace(EXPORTED_NAMES, (_, indent, names) => `${indent}${names.split(',').map(exported).join('')}`)
    .replace(DEFAULT, '$1module.exports.default = ')
    .replace(DECLARED, '$1');
}

function exported(name) {
  const [from, to = from] = name.trim().split(/\s+as\s+/);
  return from ? `module.exports[${stringify(to)}] = ${from};` : '';
}

function isModule(source) {
  if (!EXPORT.test(source) && !source.includes('export{')) return false;
  try {
    new Function(source);
    return false; // `export` is in a string or a comment
  } catch (error) {
    return error instanceof SyntaxError;
  }
}

function load(source) {
  const module = { exports: {} };
  assign(global, { module, exports: module.exports });
  if (ABOUT_ITSELF.test(source)) {
    const context = ask('context', {});
    assign(global, { context, settings: context.settings ?? {} });
  }
  const text = isModule(source) ? withoutExports(source) : source;
  const named = evaluate(`${text}\n;typeof run === 'function' ? run : undefined`);
  const given = module.exports;
  return [named, given.default, given.run, given].find((found) => typeof found === 'function');
}

// ---- results and errors

function refuseNotFinite(key, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${key || 'it'} is ${value}`);
  return value;
}

function written(value) {
  try {
    const text = stringify(value === undefined ? null : value);
    if (text === undefined) throw new TypeError(`it is a ${typeof value}`);
    if (text.includes('null')) stringify(value, refuseNotFinite);
    return text;
  } catch (error) {
    if (isOutOfMemory(error)) throw error;
    throw failure('output', `the return value of run is not JSON: ${textOf(error)}`);
  }
}

const isOutOfMemory = (error) => error instanceof InternalError && error.message === 'out of memory';

function textOf(error) {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : shown(error);
    return `${text}`.slice(0, MAX_TEXT);
  } catch {
    return 'an error that cannot be displayed was thrown';
  }
}

function stackOf(error) {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  const own = stack.split('\n').filter((line) => line.includes('<input>'));
  return own.join('\n').replaceAll('<input>', 'skill.js').slice(0, MAX_TEXT);
}

const failure = (kind, message, stack = '') => ({ isFailure: true, report: stringify({ kind, message, stack }) });

function reportOf(error, otherwise) {
  if (error?.isFailure) return error.report;
  if (isOutOfMemory(error)) {
    reserve = null;
    return failure('memory', 'out of memory').report;
  }
  return failure(otherwise, textOf(error), stackOf(error)).report;
}

export function run(source, input) {
  let entry;
  try {
    entry = load(source);
    if (!entry) throw failure('unusable', 'there is no function run(input) in skill.js');
  } catch (error) {
    throw reportOf(error, error instanceof SyntaxError ? 'unusable' : 'raised');
  }
  try {
    const value = entry(parse(input));
    if (typeof value?.then === 'function') throw failure('unusable', ASYNCHRONOUS);
    return written(value);
  } catch (error) {
    throw reportOf(error, 'raised');
  }
}
