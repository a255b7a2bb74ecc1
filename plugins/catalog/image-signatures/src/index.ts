import { contribute } from 'kubenest/sdk';

export default contribute();
