import { addErrors, type FieldError, forbidden, invalid, notSupportedText, type Path, required } from '#apimachinery/validation/field';
import { isDNS1035Label } from '#apimachinery/validation/names';
import { validateCABundle, validateWebhookService, validateWebhookURL } from '#apimachinery/validation/webhook';
import type { CustomResourceConversion, WebhookClientConfig } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

/** Versions of ConversionReview that the server supports. */
export const acceptedReviewVersions: readonly string[] = ['v1', 'v1beta1'];

export interface ConversionRequirements {
  readonly recognizedReviewVersion: boolean;
  readonly validCABundle: boolean;
}

/** Validates the conversion of a definition. Upstream: validateCustomResourceConversion. */
export function validateConversion(
  path: Path,
  conversion: CustomResourceConversion | undefined,
  requirements: ConversionRequirements,
): FieldError[] {
  if (!conversion) return [];
  const { strategy = '', webhook } = conversion;
  const errors: FieldError[] = [];
  if (strategy === '') errors.push(required(path.child('strategy')));
  else if (strategy !== 'None' && strategy !== 'Webhook')
    errors.push(notSupportedText(path.child('strategy'), strategy, ['None', 'Webhook']));
  const config = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  const configPath = path.child('webhookClientConfig');
  const versionsPath = path.child('conversionReviewVersions');
  if (strategy === 'Webhook') {
    if (config) addErrors(errors, validateClientConfig(configPath, config, requirements));
    else errors.push(required(configPath, 'required when strategy is set to Webhook'));
    addErrors(errors, validateReviewVersions(versionsPath, versions, requirements));
    return errors;
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (config) errors.push(forbidden(configPath, detail));
  if (versions.length > 0) errors.push(forbidden(versionsPath, detail));
  return errors;
}

function validateClientConfig(path: Path, config: WebhookClientConfig, { validCABundle }: ConversionRequirements): FieldError[] {
  const { url, service, caBundle } = config;
  const errors: FieldError[] = [];
  if ((url === undefined) === (service === undefined)) errors.push(required(path, 'exactly one of url or service is required'));
  else if (url !== undefined) addErrors(errors, validateWebhookURL(path.child('url'), url));
  // As upstream, name and namespace are swapped.
  else if (service) {
    const { name = '', namespace = '', ...rest } = service;
    addErrors(errors, validateWebhookService(path.child('service'), { ...rest, namespace: name, name: namespace }));
  }
  if (caBundle && validCABundle) addErrors(errors, validateCABundle(path.child('caBundle'), caBundle));
  return errors;
}

function validateReviewVersions(
  path: Path,
  versions: readonly string[],
  { recognizedReviewVersion }: ConversionRequirements,
): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(path.index(i), version, 'duplicate version'));
    else
      addErrors(
        errors,
        isDNS1035Label(version).map((message) => invalid(path.index(i), version, message)),
      );
    seen.add(version);
  }
  if (recognizedReviewVersion && !versions.some((version) => acceptedReviewVersions.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${acceptedReviewVersions.join(', ')}`));
  return errors;
}
