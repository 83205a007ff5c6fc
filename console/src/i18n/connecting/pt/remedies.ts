/** What helps with several reasons. */
export const AGAIN = 'Tente de novo em alguns minutos'
export const CONNECT = 'Conecte o número de novo'
