/** The configuration of the plugin that asks, validated: an instance of the class that its decorator names as `configuration`. */
export const Configuration = Symbol.for('kubenest.Configuration');
