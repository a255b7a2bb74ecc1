import { replaceObject } from '#apiserver/admission/replace-object';
import type { AdmissionHandler, AdmissionPluginOptions, Attributes } from '#apiserver/admission/attributes';
import { describe, describes } from '#apiserver/base/contribution';
import { BoundaryError } from '#apiserver/admission/plugin-boundary';
import type { KubeObject } from '#apimachinery/meta/types';
import { NotPlainError } from '#apimachinery/runtime/plain-data';
import { defaultGuard } from '../guard-admission.ts';
import type { PluginRequest } from '../plugin-request.ts';
import type { LoadedContribution } from '../loaded-contribution.ts';
import { findPluginPackage } from '../plugin-package.ts';
import type { VerifiedFiles } from '../verified-modules.ts';
import { restoredError } from './isolated-error.ts';
import type { CallOutcome, IsolatedPlugin, PhaseName } from './messages.ts';
import { PluginWorker } from './plugin-worker.ts';

/** Memory limit in MiB of a worker thread's objects. */
const defaultMemoryMiB = 128;

/** Loads a package in a worker thread, whose imports are restricted to the verified files. Rejects with a PluginLoadError. */
export async function loadIsolated(request: PluginRequest, folder: string, verified?: VerifiedFiles): Promise<LoadedContribution[]> {
  const guard = { ...defaultGuard, ...request.guard };
  const { name, version } = findPluginPackage(request.package, folder, request.integrity);
  const worker = new PluginWorker(name, { request, folder, verified }, guard, request.memoryMiB ?? defaultMemoryMiB);
  const plugins = await worker.start();
  return plugins.map((plugin) => {
    const proxy = newProxy(worker, plugin);
    return {
      described: describe(proxy.constructor)!,
      origin: { package: name, file: plugin.file, version, integrity: request.integrity },
      guard,
      configuration: undefined,
      make(services) {
        worker.attach(services);
        return proxy;
      },
    };
  });
}

/** Returns a plugin that runs in the thread. */
function newProxy(worker: PluginWorker, { name, match, matchByPhase, before, after, phases }: IsolatedPlugin): AdmissionHandler {
  class IsolatedAdmission {}
  const options: AdmissionPluginOptions = {
    name,
    match,
    ...(matchByPhase && { matchByPhase }),
    ...(before && { before }),
    ...(after && { after }),
  };
  describes('AdmissionPlugin', options)(IsolatedAdmission);
  const call = async (phase: PhaseName, request: Attributes): Promise<void> => {
    const outcome = await worker.call(name, phase, request);
    return settle(outcome, worker.objectOf(outcome), request);
  };
  return Object.assign(
    new IsolatedAdmission() as AdmissionHandler,
    Object.fromEntries(phases.map((phase) => [phase, (request: Attributes) => call(phase, request)])),
    { [Symbol.asyncDispose]: () => worker.end() },
  );
}

/** Applies the effects of a call to the request. Throws the error of the plugin. Returns what it returned. */
function settle(outcome: CallOutcome, object: unknown, request: Attributes): void {
  const { warnings, annotations, notes, error, returned, requiresReinvocation } = outcome;
  for (const text of warnings) request.addWarning(text);
  for (const [key, value, level] of annotations) request.addAnnotation(key, value, level);
  for (const note of notes) request.trace?.note(note);
  if (requiresReinvocation) request.reinvocation.isRequired = true;
  if (error) throw asBoundaryError(restoredError(error));
  if (object !== undefined) replaceObject(request.object, object as KubeObject);
  return returned as undefined;
}

function asBoundaryError(error: Error): Error {
  return error instanceof NotPlainError ? new BoundaryError('object', `left an object that is not JSON: ${error.message}`) : error;
}
