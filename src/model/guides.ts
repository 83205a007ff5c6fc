/** The page of the docs about connecting a number. Texts for people name sections of it. */
export const CONNECT_GUIDE = 'docs/connect-a-number.md'
