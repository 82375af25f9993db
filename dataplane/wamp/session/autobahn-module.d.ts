// autobahn ships no types. The door file says what is used of it; nobody else reads the module.
declare module 'autobahn' {
  const autobahn: unknown
  export = autobahn
}
