import { AGAIN } from './remedies.js'
import type { TextsOf } from './step-text.js'

const TOKEN = 'Gere um token de um usuário do sistema que nunca expira'

/** What is found of the access token. */
export const TOKEN_TEXTS: TextsOf<'token'> = {
  token_lasting: { sentence: 'O token de acesso é válido e não expira; pertence ao app {app}' },
  token_valid: { sentence: 'O token de acesso é válido até {until}; pertence ao app {app}' },
  token_ending: { sentence: 'O token de acesso expira em {until}; depois, nada pode ser enviado', remedy: TOKEN },
  token_of_person: {
    sentence: 'O token de acesso é de uma pessoa, e deixa de valer quando ela muda a senha ou sai',
    remedy: TOKEN,
  },
  data_access_ending: { sentence: 'O acesso do token aos dados termina em {until}', remedy: TOKEN },
  token_unread: {
    sentence: 'O token de acesso funciona, mas o WhatsApp não diz o que ele permite ({text})',
    remedy: 'Se um passo seguinte falhar, gere o token de novo, com as duas permissões do WhatsApp',
  },
  token_refused: {
    sentence: 'O WhatsApp recusou o token de acesso ({text})',
    remedy: `Informe um válido, copiado por inteiro. ${TOKEN}`,
  },
  token_lacks: {
    sentence: 'Falta ao token de acesso a permissão {permissions}',
    remedy: 'Gere-o de novo, com whatsapp_business_messaging e whatsapp_business_management',
  },
  token_needs_proof: {
    sentence: 'O app só aceita chamadas que provam a sua chave secreta ({text})',
    remedy: 'Copie-a do painel de apps, em Configurações, Básico, Chave secreta do app',
  },
  token_unavailable: { sentence: 'Não foi possível perguntar ao WhatsApp sobre o token ({text})', remedy: AGAIN },
}
