import { StatusError } from '#apimachinery/api/errors';
import { createJsonPatch, type JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { deepCopy } from '#apimachinery/runtime/copy';
import type { AdmissionSteps, CompiledAdmission, Phase, Step } from './admission-chain.ts';
import type { Attributes } from './attributes.ts';
import { StepSelection } from './step-selection.ts';
import type { Operation } from '#apiserver/request/admission-context';
import { isSecret, type RequestTrace, rounded } from '#apiserver/request/request-trace';

/** An admission chain that records its verdicts and changes in the trace of a request. */
export class TracedAdmission implements AdmissionSteps {
  constructor(
    readonly steps: AdmissionSteps,
    readonly trace: RequestTrace,
  ) {}

  for(group: string, resource: string, subresource: string, operation: Operation): CompiledAdmission {
    const { mutating, validating } = this.steps.for(group, resource, subresource, operation);
    return { mutating: this.#phase(mutating, 'admit'), validating: this.#phase(validating, 'validate') };
  }

  #phase({ steps, timer }: Phase, stage: 'admit' | 'validate'): Phase {
    const traced = steps.map((step) => this.#traced(step, stage));
    return { steps: traced, selection: new StepSelection(traced), timer };
  }

  #traced({ name, timer, run }: Step, stage: 'admit' | 'validate'): Step {
    const { trace } = this;
    return {
      name,
      timer,
      // The trace names the plugins out of whose scope the request is.
      scope: undefined,
      async run(request) {
        const before = stage === 'admit' ? deepCopy(request.object) : undefined;
        const began = performance.now();
        const add = (verdict: string, more: { reason?: string; patch?: readonly JsonPatchOperation[] } = {}): void =>
          trace.add({ stage, name, milliseconds: rounded(performance.now() - began), verdict, ...more });
        try {
          await run(request);
        } catch (error) {
          add(error instanceof StatusError && error.status.code < 500 ? 'denied' : 'failed', { reason: (error as Error).message });
          throw error;
        }
        const patch = before ? changes(request, before) : [];
        if (patch.length > 0) add('changed', { patch });
        else add('admitted');
      },
    };
  }
}

/** Returns the changes as a deep copy, because the object may change again. */
function changes({ object, resource }: Attributes, before: Attributes['object']): readonly JsonPatchOperation[] {
  const patch = deepCopy(createJsonPatch(before, object));
  return isSecret(resource.group, resource.resource) ? patch.map(withoutSecret) : patch;
}

function withoutSecret(operation: JsonPatchOperation): JsonPatchOperation {
  const isSecret = /^\/(data|stringData)(\/|$)/.test(operation.path);
  return isSecret && 'value' in operation ? { ...operation, value: '(secret)' } : operation;
}
