import { AGAIN } from './remedies.js'
import type { TextsOf } from './step-text.js'

/** What is found of the app secret. */
export const APP_SECRET_TEXTS: TextsOf<'app_secret'> = {
  secret_fits: { sentence: 'A chave secreta do app confere' },
  secret_missing: {
    sentence: 'Falta a chave secreta do app: sem ela, nenhum callback é confiável',
    remedy: 'Copie-a do painel de apps, em Configurações, Básico, Chave secreta do app',
  },
  secret_wrong: {
    sentence: 'A chave secreta não é a do app do token de acesso ({text})',
    remedy: 'Copie-a de novo do app {app}: Configurações, Básico, Chave secreta do app',
  },
  secret_unavailable: {
    sentence: 'Não foi possível perguntar ao WhatsApp sobre a chave secreta do app ({text})',
    remedy: AGAIN,
  },
}
