/** The package has no types of its own. */
declare module 'passport-strategy' {
  class Strategy {}
  export default Strategy;
}
