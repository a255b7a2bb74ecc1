import {
  Controller,
  ControllerClient,
  type GroupVersionKind,
  inject,
  type ReconcileRequest,
  servedResources,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { ParamKind, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec } from 'kubenest/types/admissionregistration_v1';
import { inSteps, type PolicyTypes, typeWarnings } from '#sdk/internal';
import { asManager } from '../common/as-manager.ts';
import { matchedKinds } from './matched-kinds.ts';
import { OpenApiSchemas } from './open-api-schemas.ts';

const policies = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  isClusterScoped: true,
} as const;
const fieldManager = 'validatingadmissionpolicy-status';

/**
 * Checks the expressions of ValidatingAdmissionPolicies against the types of the objects that they match, and writes the warnings to the
 * status. Upstream: pkg/controller/validatingadmissionpolicystatus.
 */
@Controller({
  name: 'validatingadmissionpolicy-status-controller',
  for: policies,
  concurrency: 5,
  ...asManager,
})
export class ValidatingAdmissionPolicyStatusController {
  readonly #policies: SharedInformer<ValidatingAdmissionPolicy>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#policies = informers.for<ValidatingAdmissionPolicy>(policies);
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    const policy = this.#policies.get('', name);
    const generation = policy?.metadata.generation ?? 0;
    if (!policy || generation <= (policy.status?.observedGeneration ?? 0)) return;
    const { spec = {} } = policy;
    const expressionWarnings = await inSteps(typeWarnings(spec as Parameters<typeof typeWarnings>[0], await this.#types(spec)));
    const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {};
    const applied = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: policies.kind,
      metadata: { name },
      status: { observedGeneration: generation, typeChecking },
    };
    await this.client.apply({ ...policies, subresource: 'status' }, applied, { force: true, fieldManager });
  }

  /** Kinds without a schema are not checked. */
  async #types(spec: ValidatingAdmissionPolicySpec): Promise<PolicyTypes> {
    const { resources } = await servedResources(this.client, { allVersions: true });
    const schemas = new OpenApiSchemas(this.client);
    const kinds = await Promise.all(
      matchedKinds(spec, resources).map(async (kind) => {
        const schema = await schemas.find(kind);
        return schema ? [{ kind, schema }] : [];
      }),
    );
    return { kinds: kinds.flat(), params: spec.paramKind && (await schemas.find(kindOfParams(spec.paramKind))) };
  }
}

function kindOfParams({ apiVersion = '', kind = '' }: ParamKind): GroupVersionKind {
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}
