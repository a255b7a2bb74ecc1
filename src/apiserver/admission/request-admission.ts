import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { AdmissionChain } from './admission-chain.ts';
import type { Attributes, Operation } from './attributes.ts';

/** What admission knows of an endpoint, the same for all of its requests. */
export interface AdmissionTarget {
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
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
    return this.#run('mutating', call);
  }

  validate(call: AdmissionCall): void | Promise<void> {
    return this.#run('validating', call);
  }

  #run(phase: 'mutating' | 'validating', call: AdmissionCall): void | Promise<void> {
    const { resource, subresource } = this.target;
    const steps = this.chain.for(resource.group, resource.resource, subresource, call.operation)[phase];
    if (steps.length === 0) return;
    const request = new AdmissionRequest(this.context, this.target, call);
    for (let at = 0; at < steps.length; at += 1) {
      const result = steps[at]?.run(request);
      if (result !== undefined) return this.#continue(steps, at + 1, request, result);
    }
  }

  async #continue(
    steps: readonly { run(request: Attributes): void | Promise<void> }[],
    from: number,
    request: Attributes,
    pending: Promise<void>,
  ): Promise<void> {
    await pending;
    for (let at = from; at < steps.length; at += 1) await steps[at]?.run(request);
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
  readonly #context: RequestContext;

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
    this.#context = context;
  }

  addAnnotation(key: string, value: string): void {
    const annotations = this.#context.auditAnnotations;
    if (annotations && !annotations.has(key)) annotations.set(key, value);
  }

  addWarning(text: string): void {
    this.#context.warn(text);
  }
}
