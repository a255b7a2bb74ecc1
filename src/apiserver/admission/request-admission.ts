import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import { isQualifiedName } from '#apimachinery/validation/names';
import type { RequestContext } from '#apiserver/request/request-context';
import type { AdmissionSteps, CompiledAdmission, Phase, Step } from './admission-chain.ts';
import type { StepTimer } from './admission-metrics.ts';
import type { AdmissionCall, AdmissionContext, Operation } from '#apiserver/request/admission-context';
import type { Attributes } from './attributes.ts';
import type { PacedAttributes } from './plugin-boundary.ts';
import type { ObjectForms } from './object-forms.ts';
import { Reinvocation } from './reinvocation.ts';
import type { AdmissionTrace } from '#apiserver/request/request-trace';

/** Admission parameters of an endpoint, shared by its requests. */
export interface AdmissionTarget {
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly forms: ObjectForms;
}

/**
 * Admission of one request. The AdmissionInterceptor opens it; the verb calls it at upstream's two points, and again with the newer
 * object if an update lost its compare-and-swap.
 */
export class RequestAdmission implements AdmissionContext {
  constructor(
    readonly chain: AdmissionSteps,
    readonly context: RequestContext,
    readonly target: AdmissionTarget,
  ) {}

  /** Runs the mutating plugins, which may change the object. Returns undefined, not a promise, if none of them is asynchronous. */
  admit(call: AdmissionCall): void | Promise<void> {
    return this.#measured(this.#compiled(call).mutating, call, mutate);
  }

  validate(call: AdmissionCall): void | Promise<void> {
    return this.#measured(this.#compiled(call).validating, call, run);
  }

  #compiled(call: AdmissionCall): CompiledAdmission {
    const { resource, subresource } = this.target;
    return this.chain.for(resource.group, resource.resource, subresource, call.operation);
  }

  #measured(
    { selection, timer }: Phase,
    call: AdmissionCall,
    work: (steps: readonly Step[], request: AdmissionRequest) => void | Promise<void>,
  ): void | Promise<void> {
    if (selection.steps.length === 0) return;
    const request = new AdmissionRequest(this.context, this.target, call);
    const steps = selection.for(request);
    const began = performance.now();
    try {
      const result = work(steps, request);
      if (result) return settled(result, timer, began);
    } catch (error) {
      timer?.observe(performance.now() - began, true);
      throw error;
    }
    timer?.observe(performance.now() - began, false);
  }
}

/** Runs all steps, and all once more if one of them requires it. */
function mutate(steps: readonly Step[], request: AdmissionRequest): void | Promise<void> {
  const result = run(steps, request);
  return result ? result.then(() => reinvoke(steps, request)) : reinvoke(steps, request);
}

function reinvoke(steps: readonly Step[], request: AdmissionRequest): void | Promise<void> {
  if (!request.wantsReinvocation) return;
  request.reinvocation.isReinvoke = true;
  return run(steps, request);
}

/** Runs steps in order. Returns a promise only if one of them is asynchronous. */
function run(steps: readonly Step[], request: Attributes, from = 0): void | Promise<void> {
  let began = performance.now();
  for (let at = from; at < steps.length; at += 1) {
    const step = steps[at] as Step;
    if (step.scope?.includesObjects(request) === false) continue;
    let result: void | Promise<void>;
    try {
      result = step.run(request);
    } catch (error) {
      step.timer?.observe(performance.now() - began, true);
      throw error;
    }
    if (result !== undefined) return settled(result, step.timer, began).then(() => run(steps, request, at + 1));
    const ended = performance.now();
    step.timer?.observe(ended - began, false);
    began = ended;
  }
}

/**
 * True for `prefix/name` with the syntax of label keys; other annotations are dropped. Upstream:
 * apiserver/pkg/admission/attributes.go (checkKeyFormat).
 */
function isAnnotationKey(key: string): boolean {
  return key.includes('/') && isQualifiedName(key).length === 0;
}

/** Measures an asynchronous step. */
async function settled(result: Promise<void>, timer: StepTimer | undefined, began: number): Promise<void> {
  try {
    await result;
  } catch (error) {
    timer?.observe(performance.now() - began, true);
    throw error;
  }
  timer?.observe(performance.now() - began, false);
}

class AdmissionRequest implements PacedAttributes {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject;
  readonly oldObject: KubeObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly pace: PacedAttributes['pace'];
  readonly user: Attributes['user'];
  readonly forms: ObjectForms;
  readonly deadline: number;
  readonly trace: AdmissionTrace | undefined;
  readonly #context: RequestContext;
  #reinvocation: Reinvocation | undefined;

  constructor(context: RequestContext, target: AdmissionTarget, call: AdmissionCall) {
    this.operation = call.operation;
    this.kind = target.kind;
    this.resource = target.resource;
    this.subresource = target.subresource;
    this.namespace = call.namespace;
    this.name = call.name;
    this.object = call.object as KubeObject;
    this.oldObject = call.oldObject;
    this.options = call.options;
    this.dryRun = call.dryRun;
    this.pace = call.pace;
    this.user = context.authenticatedUser;
    this.forms = target.forms;
    this.deadline = context.deadline;
    this.trace = context.trace;
    this.#context = context;
    this.#reinvocation = undefined;
  }

  get traceHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#context.span?.headers;
  }

  within<T>(name: string, attributes: readonly (readonly [key: string, value: string])[], work: () => T): T {
    const { span } = this.#context;
    if (!span) return work();
    return span.around(name, attributes, (addEvent) => {
      const result = work();
      // Upstream: admission/plugin/webhook/validating/dispatcher.go.
      if (result instanceof Promise)
        result.then(
          () => addEvent('Request completed'),
          () => undefined,
        );
      return result;
    });
  }

  waited(from: number, to: number): void {
    this.#context.waited(from, to);
  }

  get reinvocation(): Reinvocation {
    return (this.#reinvocation ??= new Reinvocation());
  }

  get wantsReinvocation(): boolean {
    return this.#reinvocation?.isRequired ?? false;
  }

  addAnnotation(key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void {
    if (level === 'Request' && !this.#context.audit?.recordsRequest) return;
    const annotations = this.#context.auditAnnotations;
    if (annotations && !annotations.has(key) && isAnnotationKey(key)) annotations.set(key, value);
  }

  addWarning(text: string): void {
    this.#context.warn(text);
  }
}
