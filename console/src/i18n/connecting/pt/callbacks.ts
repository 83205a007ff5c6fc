import { AGAIN, CONNECT } from './remedies.js'
import type { TextsOf } from './step-text.js'

/** What is found of the app's callback URL. */
export const CALLBACKS_TEXTS: TextsOf<'callbacks'> = {
  callbacks_right: { sentence: 'O app chama {url} para mensagens e situações de modelos' },
  callbacks_set: { sentence: 'O app agora chama {url} para mensagens e situações de modelos' },
  verify_token_new: {
    sentence:
      'O token de verificação é novo: para informar a URL de callback à mão, defina um aqui antes (verify_token)',
  },
  callbacks_overridden: {
    sentence: 'As mensagens chegam aqui por um desvio, mas o app chama {url}, e os avisos sobre modelos vão para lá',
    remedy: 'Atualize os modelos à mão depois de uma mudança, ou use um app só para o Parley',
  },
  callbacks_left: {
    sentence: 'O app chama {url}, e ficou assim: só chega aqui o que o programa de lá repassa',
    remedy: 'Faça-o repassar os callbacks sem mudá-los, ou conecte de novo e escolha outro caminho',
  },
  callbacks_passed_on: {
    sentence: 'O app chama outro endereço, {url}, e os callbacks chegam aqui: o último em {at}',
    remedy: 'Se nenhum programa de lá os repassa, conecte o número de novo',
  },
  messages_not_ticked: {
    sentence: 'O app, que chama {url}, não assina o campo messages: um desvio não traz nada para cá',
    remedy: 'Marque o campo messages no painel de apps, em Casos de uso, Personalizar, Configuração',
  },
  callbacks_elsewhere: {
    sentence: 'O app chama outro endereço, {url}, e um app só tem um',
    remedy: 'Escolha para onde vão os callbacks',
  },
  callbacks_foreign: {
    sentence: 'O app chama outro endereço, {url}: nenhuma mensagem chega aqui',
    remedy: CONNECT,
  },
  callbacks_missing: {
    sentence: 'O app não tem URL de callback: nenhuma mensagem chega',
    remedy: CONNECT,
  },
  callbacks_lack_fields: { sentence: 'O app não assina o campo {fields}', remedy: CONNECT },
  callbacks_not_public: {
    sentence: 'O WhatsApp não consegue chamar {url}: precisa de um endereço https sem sinal de mais',
    remedy: 'O operador do serviço define PARLEY_PUBLIC_URL',
  },
  callbacks_unverified: {
    sentence: 'O WhatsApp chamou {url} para verificá-lo e recebeu outra resposta ({text})',
    remedy: 'O operador executa parley doctor e vê os motivos pelos quais os callbacks não chegam',
  },
  callbacks_refused: {
    sentence: 'O WhatsApp recusou mostrar ou mudar o endereço que o app chama ({text})',
    remedy: 'Defina a URL de callback à mão',
  },
  callbacks_unavailable: {
    sentence: 'Não foi possível perguntar ao WhatsApp que endereço o app chama ({text})',
    remedy: AGAIN,
  },
}
