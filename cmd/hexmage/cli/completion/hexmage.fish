# fish completion for hexmage: what may stand at the cursor says the program itself.
function __hexmage_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] complete fish -- $words "$word" 2>/dev/null)
        switch $line
            case :files
                set -l flag (string match -r -- '^--[^=]*=' "$word")
                for path in (__fish_complete_path (string replace -- "$flag" '' "$word"))
                    printf '%s%s\n' $flag $path
                end
            case :nospace
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c hexmage -f -a '(__hexmage_complete)'
