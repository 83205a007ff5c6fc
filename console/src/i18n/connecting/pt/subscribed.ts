import { AGAIN, CONNECT } from './remedies.js'
import type { TextsOf } from './step-text.js'

/** What is found of the subscription to the business account, and of overrides. */
export const SUBSCRIBED_TEXTS: TextsOf<'subscribed'> = {
  subscribed_right: { sentence: 'O app recebe os callbacks da conta comercial {account}' },
  subscribed_now: { sentence: 'O app agora recebe os callbacks da conta comercial {account}' },
  override_set: { sentence: 'As mensagens agora chegam em {url}' },
  override_elsewhere: {
    sentence: 'Um desvio leva os callbacks para {url}',
    remedy: 'Escolha se eles devem chegar aqui',
  },
  override_left: {
    sentence: 'Um desvio leva os callbacks para {url}, e ficou assim',
    remedy: 'Conecte de novo e escolha outro caminho',
  },
  override_foreign: {
    sentence: 'Um desvio leva os callbacks para {url}: nenhuma mensagem chega aqui',
    remedy: CONNECT,
  },
  override_passed_on: {
    sentence: 'Um desvio leva os callbacks para {url}, e eles chegam aqui: o último em {at}',
    remedy: 'Se nenhum programa de lá os repassa, conecte o número de novo',
  },
  override_unread: {
    sentence: 'O app recebe os callbacks, mas o WhatsApp não diz se um desvio leva os do número para outro lugar',
    remedy: 'Se nenhuma mensagem chegar, conecte o número de novo e traga as mensagens dele para cá',
  },
  override_unverified: {
    sentence: 'O WhatsApp chamou {url} para verificá-lo e recebeu outra resposta ({text})',
    remedy: 'O operador executa parley doctor e vê os motivos pelos quais os callbacks não chegam',
  },
  override_refused: {
    sentence: 'O WhatsApp não permite mudar o endereço deste número ({text})',
    remedy: 'Use a URL de callback do próprio app: conecte de novo e escolha-a',
  },
  not_subscribed: {
    sentence: 'O app não está inscrito na conta comercial {account}: nenhuma mensagem chega',
    remedy: CONNECT,
  },
  subscribed_refused: {
    sentence: 'O WhatsApp recusou a inscrição na conta comercial {account} ({text})',
    remedy: 'Confira o ID da conta comercial, e se o usuário do sistema a administra',
  },
  subscribed_unavailable: {
    sentence: 'Não foi possível perguntar ao WhatsApp sobre a inscrição ({text})',
    remedy: AGAIN,
  },
}
