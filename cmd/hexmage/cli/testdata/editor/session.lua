-- A session with `hexmage lsp` in Neovim 0.7, without plug-ins, with the configuration of docs/editor.md. For
-- TestNeovim it prints the editor's state as JSON objects, one a line.
local root = vim.env.ROOT
local limit = 60000

local function say(what, value)
  io.stdout:write(vim.json.encode({ what = what, value = value }) .. '\n')
end

local function await(what, ok)
  if not vim.wait(limit, ok, 20) then
    error('nothing came of: ' .. what)
  end
end

-- find puts the cursor on the first place of a text, and so many characters to the right.
local function find(text, right)
  for n, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local at = line:find(text, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { n, at - 1 + (right or 0) })
      return
    end
  end
  error('there is no ' .. text)
end

local function request(method, more)
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(), more or {})
  local answers = assert(vim.lsp.buf_request_sync(0, method, params, limit))
  for _, answer in pairs(answers) do
    assert(not answer.error, vim.inspect(answer.error))
    return answer.result
  end
end

local function completed()
  local words = {}
  for _, item in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(request('textDocument/completion'), '')) do
    words[#words + 1] = item.word
  end
  return words
end

local function replace(old, new)
  for n, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local at, last = line:find(old, 1, true)
    if at then
      vim.api.nvim_buf_set_text(0, n - 1, at - 1, n - 1, last, { new })
      return
    end
  end
  error('there is no ' .. old)
end

local function session()
  vim.cmd('edit ' .. root .. '/pipelines/greet.hcl')
  await('the start', function() return #vim.lsp.get_active_clients() > 0 and vim.lsp.buf_get_clients(0)[1] ~= nil end)
  local client = vim.lsp.buf_get_clients(0)[1]

  await('a mistake', function() return #vim.diagnostic.get(0) > 0 end)
  local told = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    told[#told + 1] = { line = d.lnum, column = d.col, last = d.end_col, severity = d.severity, message = d.message }
  end
  say('told', told)
  replace('helo', 'hello')
  await('no mistake', function() return #vim.diagnostic.get(0) == 0 end)
  say('mended', vim.api.nvim_buf_get_lines(0, 0, -1, true))

  find('step "exec"', 6)
  say('kinds', completed())
  find('  argv', 2)
  say('arguments', completed())
  find('step.exec.', 10)
  say('steps', completed())
  find('"SM', 3)
  say('targets', completed())
  find('version = "', 11)
  say('versions', completed())

  for _, place in ipairs({ 'exec', 'argv', 'SM8750', 'qairt', 'var.who' }) do
    find(place, #place - 1)
    say('hover ' .. place, request('textDocument/hover').contents.value)
  end

  find('step.exec.hello', 11)
  vim.lsp.buf.definition()
  await('the definition', function() return vim.api.nvim_win_get_cursor(0)[1] ~= 22 end)
  say('definition', { vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2] })

  replace('  output', '      output')
  vim.lsp.buf.formatting_sync(nil, limit)
  say('formatted', vim.api.nvim_buf_get_lines(0, 0, -1, true))
  await('no mistake', function() return #vim.diagnostic.get(0) == 0 end)

  client.stop()
  await('the end', function() return client.is_stopped() end)
  say('ended', true)
end

local ok, err = xpcall(session, debug.traceback)
if not ok then
  say('failed', err)
end
vim.cmd('qall!')
