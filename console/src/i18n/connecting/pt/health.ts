import type { TextsOf } from './step-text.js'

/** What WhatsApp says of whether the number can send. */
export const HEALTH_TEXTS: TextsOf<'health'> = {
  health_good: { sentence: 'O número pode enviar' },
  health_limited: { sentence: 'O envio está limitado: {why}', remedy: 'Siga o que diz o Gerenciador do WhatsApp' },
  health_blocked: { sentence: 'O envio está bloqueado: {why}', remedy: 'Siga o que diz o Gerenciador do WhatsApp' },
}
