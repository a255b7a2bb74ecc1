import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { AdmissionChain, CompiledAdmission } from './admission-chain.ts';
import type { Attributes, Operation } from './attributes.ts';
import type { ObjectForms } from './object-forms.ts';
import { Reinvocation } from './reinvocation.ts';

/** What admission knows of an endpoint, the same for all of its requests. */
export interface AdmissionTarget {
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly forms: ObjectForms;
}

/** What the verb tells of one write. */
export interface AdmissionCall {
  readonly operation: Operation;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
}

/**
 * The admission of one request: opened by the AdmissionInterceptor, called by the verb at upstream's two points, for an
 * update that lost its compare-and-swap once more with the newer object.
 */
export class RequestAdmission {
  constructor(
    readonly chain: AdmissionChain,
    readonly context: RequestContext,
    readonly target: AdmissionTarget,
  ) {}

  /** Lets the mutating plugins change the object. Returns nothing, without a promise, where none of them waits. */
  admit(call: AdmissionCall): void | Promise<void> {
    const steps = this.#steps(call).mutating;
    if (steps.length > 0) return this.#measured('admit', call, () => this.#admit(steps, call));
  }

  validate(call: AdmissionCall): void | Promise<void> {
    const steps = this.#steps(call).validating;
    if (steps.length === 0) return;
    return this.#measured('validate', call, () => run(steps, new AdmissionRequest(this.context, this.target, call)));
  }

  #admit(steps: CompiledAdmission['mutating'], call: AdmissionCall): void | Promise<void> {
    const request = new AdmissionRequest(this.context, this.target, call);
    const result = run(steps, request);
    if (result) return result.then(() => this.#reinvoke(steps, request));
    return this.#reinvoke(steps, request);
  }

  #measured(type: 'admit' | 'validate', { operation }: AdmissionCall, work: () => void | Promise<void>): void | Promise<void> {
    const { metrics } = this.chain;
    if (!metrics) return work();
    const began = performance.now();
    const done = (rejected: boolean): void => metrics.step(type, operation, performance.now() - began, rejected);
    const failed = (error: unknown): never => {
      done(true);
      throw error;
    };
    try {
      const result = work();
      if (result) return result.then(() => done(false), failed);
    } catch (error) {
      return failed(error);
    }
    done(false);
  }

  #steps(call: AdmissionCall): CompiledAdmission {
    const { resource, subresource } = this.target;
    return this.chain.for(resource.group, resource.resource, subresource, call.operation);
  }

  /** All once more, if one of them asked for it. */
  #reinvoke(steps: CompiledAdmission['mutating'], request: AdmissionRequest): void | Promise<void> {
    if (!request.wantsReinvocation) return;
    request.reinvocation.isReinvoke = true;
    return run(steps, request);
  }
}

/** One step after the other; a promise only where one of them waits. */
function run(steps: CompiledAdmission['mutating'], request: Attributes): void | Promise<void> {
  for (let at = 0; at < steps.length; at += 1) {
    const result = steps[at]?.run(request);
    if (result !== undefined) return goOn(steps, at + 1, request, result);
  }
}

async function goOn(steps: CompiledAdmission['mutating'], from: number, request: Attributes, pending: Promise<void>): Promise<void> {
  await pending;
  for (let at = from; at < steps.length; at += 1) {
    const result = steps[at]?.run(request);
    if (result !== undefined) await result;
  }
}

class AdmissionRequest implements Attributes {
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
  readonly user: Attributes['user'];
  readonly forms: ObjectForms;
  readonly deadline: number;
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
    this.user = context.authenticatedUser;
    this.forms = target.forms;
    this.deadline = context.deadline;
    this.#context = context;
    this.#reinvocation = undefined;
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
    if (annotations && !annotations.has(key)) annotations.set(key, value);
  }

  addWarning(text: string): void {
    this.#context.warn(text);
  }
}
