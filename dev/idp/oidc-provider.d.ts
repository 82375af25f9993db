// Declares the module of the provider's class: the library's index writes a warning about the runtime to the terminal
// when it is loaded, and the class alone does not.
declare module 'oidc-provider/lib/provider.js' {
  export { Provider } from 'oidc-provider'
}
