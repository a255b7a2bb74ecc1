import { AdmissionPlugin, type Attributes, Configuration, forbidden, inject } from 'kubenest/sdk';
import { ArrayNotEmpty, IsString } from 'kubenest/sdk/configuration';

export class RequiredLabelsConfiguration {
  /** Required label keys. */
  @ArrayNotEmpty()
  @IsString({ each: true })
  labels: string[] = ['team'];
}

/** Denies new workloads without required labels. Existing objects can still be updated, so that no controller is blocked. */
@AdmissionPlugin({
  name: 'RequiredLabels',
  configuration: RequiredLabelsConfiguration,
  match: [
    { resources: ['pods'], operations: ['CREATE'] },
    { groups: ['apps'], resources: ['deployments', 'statefulsets', 'daemonsets'], operations: ['CREATE'] },
  ],
})
export class RequiredLabels {
  readonly #labels: readonly string[];

  constructor(@inject(Configuration) { labels }: RequiredLabelsConfiguration) {
    this.#labels = labels;
  }

  validate(request: Attributes): void {
    const present = request.object.metadata.labels ?? {};
    const missing = this.#labels.filter((label) => !Object.hasOwn(present, label));
    if (missing.length > 0) throw forbidden(request, `missing labels: ${missing.join(', ')}`);
  }
}
