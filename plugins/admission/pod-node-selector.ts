import {
  AdmissionPlugin,
  type Attributes,
  Configuration,
  type Informer,
  Informers,
  inject,
  invalid,
  newForbidden,
  newInternalError,
} from 'kubenest/sdk';
import { getOwn, isQualifiedName, isValidLabelValue, setOwn } from '#sdk/internal';
import { IsObject } from 'kubenest/sdk/configuration';
import type { Pod } from '../common/pod-walker.ts';

const annotation = 'scheduler.alpha.kubernetes.io/node-selector';
const defaultKey = 'clusterDefaultNodeSelector';

type Labels = Readonly<Record<string, string>>;

export class PodNodeSelectorConfiguration {
  /**
   * Node selectors (`a=b,c=d`) by namespace: the whitelist of its pods. `clusterDefaultNodeSelector` applies to namespaces
   * without the annotation.
   */
  @IsObject()
  podNodeSelectorPluginConfig: Labels = {};
}

/**
 * Restricts the pods of a namespace to nodes that match its selector. Upstream:
 * kubernetes/plugin/pkg/admission/podnodeselector/admission.go.
 */
@AdmissionPlugin({
  name: 'PodNodeSelector',
  configuration: PodNodeSelectorConfiguration,
  match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }],
})
export class PodNodeSelector {
  readonly #namespaces: Informer;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) private readonly configuration: PodNodeSelectorConfiguration,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  admit(request: Attributes<Pod>): void {
    const { spec } = request.object;
    const selector = this.#selectorOf(request);
    checkConflicts(request, selector);
    for (const [key, value] of Object.entries(selector)) setOwn((spec.nodeSelector ??= {}), key, value);
    this.validate(request);
  }

  validate(request: Attributes<Pod>): void {
    checkConflicts(request, this.#selectorOf(request));
    const allowed = labelsOf(getOwn(this.configuration.podNodeSelectorPluginConfig, request.namespace) as string | undefined);
    const asked = Object.entries(request.object.spec.nodeSelector ?? {});
    if (Object.keys(allowed).length > 0 && asked.some(([key, value]) => getOwn(allowed, key) !== value))
      throw denial(request, 'pod node label selector labels conflict with its namespace whitelist');
  }

  #selectorOf({ namespace }: Attributes): Labels {
    const found = this.#namespaces.get('', namespace);
    if (!found) throw newInternalError(`namespace ${namespace} does not exist`);
    return labelsOf(found.metadata.annotations?.[annotation] ?? this.configuration.podNodeSelectorPluginConfig[defaultKey]);
  }
}

function checkConflicts(request: Attributes<Pod>, selector: Labels): void {
  const asked = request.object.spec.nodeSelector ?? {};
  const conflicts = Object.entries(selector).some(([key, value]) => Object.hasOwn(asked, key) && asked[key] !== value);
  if (conflicts) throw denial(request, 'pod node label selector conflicts with its namespace node label selector');
}

function denial({ resource, object }: Attributes, message: string): Error {
  return newForbidden(resource, object.metadata.name ?? '', message);
}

/** Parses a selector of the form `a=b,c=d`. Throws for any other form. Upstream: labels.ConvertSelectorToLabelsMap. */
function labelsOf(text = ''): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const part of text === '' ? [] : text.split(',')) {
    const [key, value, ...more] = part.split('=');
    if (key === undefined || value === undefined || more.length > 0) throw new Error(`invalid selector: [${part.split('=').join(' ')}]`);
    setOwn(labels, checkedKey(key.trim()), checkedValue(key.trim(), value.trim()));
  }
  return labels;
}

function checkedKey(key: string): string {
  const problems = isQualifiedName(key);
  if (problems.length > 0) throw new Error(String(invalid(undefined, key, problems.join('; '))));
  return key;
}

function checkedValue(key: string, value: string): string {
  const problems = isValidLabelValue(value);
  if (problems.length > 0) throw new Error(`[${key}]: ${invalid(undefined, value, problems.join('; ')).body()}`);
  return value;
}
