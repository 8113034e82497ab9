'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function start() {
  const command = vscode.workspace.getConfiguration('hexmage').get('path') || 'hexmage';
  client = new LanguageClient(
    'hexmage',
    'hexmage',
    { command, args: ['lsp'] },
    { documentSelector: [{ scheme: 'file', language: 'hexmage' }] },
  );
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(`${command} lsp does not start: ${error.message || error}. Install hexmage, or set hexmage.path.`);
  });
}

async function stop() {
  const old = client;
  client = undefined;
  if (old && old.needsStop()) {
    await old.stop();
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand('hexmage.restart', async () => {
      await stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = stop;
