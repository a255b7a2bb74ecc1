import { contribute } from 'kubenest/sdk';
import { platform } from './environments.ts';
import { EnvironmentExpiry } from './expiry.ts';

export default contribute(platform, EnvironmentExpiry);
