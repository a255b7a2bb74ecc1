import { IsIn, IsOptional, IsString } from 'kubenest/sdk/configuration';

/** Upstream: plugin/webhook/config/apis/webhookadmission (WebhookAdmission). */
export class WebhookAdmissionConfiguration {
  /** The users of this file, named as hosts, are the credentials that webhooks are shown. */
  @IsOptional()
  @IsString()
  kubeConfigFile = '';

  /** Webhooks of files; the feature ManifestBasedAdmissionControlConfig is off. */
  @IsOptional()
  @IsIn([''], { message: 'staticManifestsDir is configured but the ManifestBasedAdmissionControlConfig feature gate is not enabled' })
  staticManifestsDir = '';
}
