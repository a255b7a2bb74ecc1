import { StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Pace } from '#apimachinery/runtime/pace';
import type { AdmissionSteps, Step } from '#apiserver/admission/admission-chain';
import type { AdmissionTarget } from '#apiserver/admission/request-admission';
import type { UserInfo } from '#apiserver/request/user-info';
import { ScanRequest } from './scan-request.ts';
import { isScanned, recordsPolicies } from './scanned-plugins.ts';
import type { Verdict } from './verdict.ts';

/** A verdict with the admission plugin that evaluated the policy. */
export interface PluginVerdict extends Verdict {
  readonly plugin: string;
}

/**
 * Evaluates the validating plugins of a chain on stored objects, as if a user created each of them now. A plugin or policy that applies to
 * UPDATE and not to CREATE is evaluated for the update of the object to itself. Every plugin is called, also after a denial.
 */
export class ObjectScan {
  constructor(
    private readonly chain: AdmissionSteps,
    private readonly user: UserInfo,
    /** True: validating webhooks that have no side effects are called, with a dry run. */
    private readonly webhooks = false,
  ) {}

  /** Returns the verdicts of all policies that apply. `object` is in the storage version and is not modified. */
  async verdictsOn(target: AdmissionTarget, object: KubeObject, pace?: Pace): Promise<PluginVerdict[]> {
    const created = this.#steps(target, 'CREATE');
    const updated = this.#steps(target, 'UPDATE');
    const found: PluginVerdict[] = [];
    for (const step of created)
      found.push(...(await verdictsOf(step, new ScanRequest(target, object, { operation: 'CREATE', user: this.user, pace }))));
    for (const step of updated) {
      const inBoth = created.some(({ name }) => name === step.name);
      if (inBoth && !recordsPolicies(step.name)) continue;
      const known = new Set(found.filter(({ plugin }) => plugin === step.name).map(({ policy }) => policy));
      const request = new ScanRequest(target, object, { operation: 'UPDATE', user: this.user, pace, known });
      found.push(...(await verdictsOf(step, request)).filter(({ policy }) => !known.has(policy)));
    }
    return found;
  }

  #steps({ resource }: AdmissionTarget, operation: 'CREATE' | 'UPDATE'): readonly Step[] {
    return this.chain
      .for(resource.group, resource.resource, '', operation)
      .validating.steps.filter(({ name }) => isScanned(name, this.webhooks));
  }
}

async function verdictsOf({ name, run }: Step, request: ScanRequest): Promise<PluginVerdict[]> {
  let error: unknown;
  try {
    await run(request);
  } catch (thrown) {
    error = thrown;
  }
  const { verdicts, warnings } = request;
  if (error !== undefined && !verdicts.all.some(({ result }) => result === 'fail' || result === 'error'))
    verdicts.record({ policy: name, result: resultOf(error), message: (error as Error).message });
  if (verdicts.all.length === 0 && !verdicts.areNone && !recordsPolicies(name))
    verdicts.record(
      warnings.length > 0 ? { policy: name, result: 'warn', message: warnings.join('; ') } : { policy: name, result: 'pass' },
    );
  return verdicts.all.map((verdict) => ({ plugin: name, ...verdict }));
}

/** A Status below 500 denies; any other error is a failure of the plugin. */
function resultOf(error: unknown): 'fail' | 'error' {
  return error instanceof StatusError && (error.status.code ?? 500) < 500 ? 'fail' : 'error';
}
