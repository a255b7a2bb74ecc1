import 'reflect-metadata';
import { parentPort, workerData } from 'node:worker_threads';
import type { KubeObject } from '#apimachinery/meta/types';
import { encodeRawJson, parseEncodedText } from '#apimachinery/runtime/json/json';
import { plainCopySteps } from '#apimachinery/runtime/plain-data';
import { atOnce } from '#apimachinery/runtime/steps';
import type { AdmissionHandler, AdmissionPluginOptions, Attributes } from '#apiserver/admission/attributes';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import { checkedText, plainNote } from '#apiserver/admission/plugin-boundary';
import { Reinvocation } from '#apiserver/admission/reinvocation';
import type { TraceNote } from '#apiserver/request/request-trace';
import { disposeOf } from '../dispose-plugin.ts';
import { loadPlugins } from '../load-plugins.ts';
import { PluginLoadError } from '../plugin-request.ts';
import { ConfigurationError } from '../read-configuration.ts';
import { serveSdk } from '../serve-sdk.ts';
import { importOnly } from '../verified-modules.ts';
import { isolatedError } from './isolated-error.ts';
import type { CallOutcome, FromWorker, IsolatedAttributes, IsolatedPlugin, PhaseName, ToWorker, WorkerTask } from './messages.ts';
import { MirroredInformers } from './mirrored-informers.ts';
import { TurnLimit } from './turn-limit.ts';
import { newWorkerContainer, ServiceCalls } from './worker-services.ts';

/*
 * Worker thread of a plugin package with `isolation: worker`. When run from the sources, Node loads this file and its imports directly, so
 * they use no decorators.
 */

const port = parentPort!;
const send = (message: FromWorker): void => port.postMessage(message);
const shutdown = new AbortController();
const calls = new ServiceCalls(port);
const informers = new MirroredInformers((resource) => send({ type: 'follow', resource }));
/** Characters of followed resources since the last report to the server. */
let read = 0;
const plugins = new Map<string, AdmissionHandler>();

/** Errors of one turn of the event loop that no code handles. */
const maxStray = 100;
const strays = new TurnLimit(maxStray, (dropped) =>
  send({ type: 'log', level: 'error', fields: { dropped }, message: 'unhandled errors dropped: too many in one turn of the event loop' }),
);
for (const kind of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(kind, (error: unknown) => {
    if (strays.take()) send({ type: 'stray', kind, error: isolatedError(error) });
  });

port.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'call':
      void call(message.plugin, message.phase, message.request).then((outcome) => send({ ...outcome, type: 'done', id: message.id }));
      return;
    case 'ping':
      return send({ type: 'pong' });
    case 'followed':
      return followed(message);
    case 'answer':
      return calls.answered(message);
    case 'shutdown':
      void shutDown();
  }
});

try {
  send({ type: 'ready', plugins: await load(workerData as WorkerTask) });
} catch (error) {
  const isExpected = error instanceof PluginLoadError || error instanceof ConfigurationError;
  send({ type: 'refused', problems: isExpected ? error.problems : [(error as Error).stack ?? String(error)] });
}

function followed({ resource, event }: Extract<ToWorker, { readonly type: 'followed' }>): void {
  if ('text' in event) {
    if (read === 0) setImmediate(reportRead);
    read += event.text.length;
  }
  informers.receive(resource, event);
}

function reportRead(): void {
  send({ type: 'read', characters: read });
  read = 0;
}

/** Disposes of the plugins and ends the thread. Failures are reported like errors that no code handles. */
async function shutDown(): Promise<void> {
  shutdown.abort();
  const disposed = await Promise.allSettled([...plugins.values()].map((plugin) => disposeOf(plugin)));
  for (const outcome of disposed)
    if (outcome.status === 'rejected') send({ type: 'stray', kind: 'unhandledRejection', error: isolatedError(outcome.reason) });
  // The messages are sent in the next turn.
  setImmediate(() => process.exit());
}

async function load({ request, folder, verified }: WorkerTask): Promise<IsolatedPlugin[]> {
  serveSdk();
  if (verified) importOnly(verified);
  const loaded = await loadPlugins([request], folder);
  const others = loaded.filter(({ described }) => described.kind !== 'AdmissionPlugin').map(({ described }) => described.options.name);
  if (others.length > 0)
    throw new PluginLoadError([
      `plugin package ${request.package}: \`isolation: worker\` runs only admission plugins; list them in \`contributions\`, without ${others.join(', ')}`,
    ]);
  const container = newWorkerContainer(port, calls, informers, shutdown.signal);
  return loaded.map(({ described, origin, make }) => {
    const { name, match, matchByPhase, before, after } = described.options as AdmissionPluginOptions;
    const plugin = make(container) as AdmissionHandler;
    plugins.set(name, plugin);
    const phases = (['admit', 'validate'] as const).filter((phase) => typeof plugin[phase] === 'function');
    return { name, file: origin?.file, match, matchByPhase, before, after, phases };
  });
}

async function call(name: string, phase: PhaseName, sent: IsolatedAttributes): Promise<Omit<CallOutcome, 'type' | 'id'>> {
  const effects = {
    warnings: [] as string[],
    annotations: [] as [string, string, 'Metadata' | 'Request' | undefined][],
    notes: [] as TraceNote[],
  };
  const object = parsed(sent.object);
  const reinvocation = new Reinvocation();
  reinvocation.isReinvoke = sent.isReinvoke;
  const { isTraced, isReinvoke: _, ...data } = sent;
  const request: Attributes = {
    ...data,
    object: object as KubeObject,
    oldObject: parsed(sent.oldObject),
    options: parseEncodedText(sent.options, true) as Attributes['options'],
    forms: noForms,
    reinvocation,
    deadline: 0,
    trace: isTraced ? { note: (note) => void effects.notes.push(plainNote(note)) } : undefined,
    addAnnotation: (key, value, level) => void effects.annotations.push([checkedText(key), checkedText(value), level]),
    addWarning: (text) => void effects.warnings.push(checkedText(text)),
    within: (_name, _attributes, work) => work(),
  };
  try {
    const synced = informers.whenSynced();
    if (synced) await synced;
    const returned: unknown = await (plugins.get(name)?.[phase]?.(request) as unknown);
    const text = object && encodeRawJson(atOnce(plainCopySteps(object)));
    return {
      ...effects,
      ...(text !== sent.object && text !== undefined && { object: text }),
      ...(returned !== undefined && { returned: typeof returned === 'object' ? {} : returned !== false }),
      requiresReinvocation: reinvocation.isRequired,
    };
  } catch (error) {
    return { ...effects, error: isolatedError(error) };
  }
}

function parsed(text: string | undefined): KubeObject | undefined {
  return text === undefined ? undefined : (parseEncodedText(text, true) as KubeObject);
}

const noConversion = (): never => {
  throw new Error('`forms` is not available with `isolation: worker`');
};
const noForms: ObjectForms = {
  equivalents: [],
  convert: noConversion,
  encode: noConversion,
  decode: noConversion,
  complete: noConversion,
  revise: noConversion,
  shape: noConversion,
};
